"""How much scrubbing finds, and how much it takes by mistake: made-up lines in which what must go is marked.

Nothing here is or was anybody's. Tokens are put together from pieces, so that no scanner takes this file for a leak.
"""

import re

import pytest

from devqa.study.scrubbing import scrub

_RANDOM = "aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW3xY5zA7bC9dE2fG4hJ6"
_HEX = "3f9a1c7e5b2d8046f1e3a5c7092b4d6e8f0a1c3e"
TOKENS = {
    "openai": "sk" + "-" + _RANDOM,
    "openai_project": "sk" + "-proj-" + _RANDOM,
    "anthropic": "sk" + "-ant-api03-" + _RANDOM,
    "stripe": "sk" + "_live_" + _RANDOM[:24],
    "github": "ghp" + "_" + _RANDOM[:36],
    "github_fine": "github" + "_pat_" + _RANDOM,
    "gitlab": "glpat" + "-" + _RANDOM[:20],
    "huggingface": "hf" + "_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH",
    "google": "AI" + "za" + _RANDOM[:35],
    "google_secret": "GOC" + "SPX-" + _RANDOM[:28],
    "slack": "xox" + "b-123456789012-123456789012-" + _RANDOM[:24].lower(),
    "slack_hook": "T0AB1CD2E/B0FG3HJ4K/" + _RANDOM[:24],
    "aws": "AK" + "IA" + "QZ5RXW7VLKTPM3NB",
    "aws_secret": "wJq8rXt3nFz5/K7MDmNg+bPxRgi1CYz9zQm2zK3Y",
    "sendgrid": "SG" + "." + _RANDOM[:22] + "." + _RANDOM[:43],
    "telegram": "1234567890" + ":" + "AA" + _RANDOM[:33],
    "jwt": "ey" + "JhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiI0MiJ9." + _RANDOM[:43],
    "npm": "npm" + "_" + _RANDOM[:36],
    "azure": _RANDOM + _RANDOM[:38] + "==",
    "twilio": "SK" + _HEX[:32],
    "discord": "MTA" + _RANDOM[:21] + "." + _RANDOM[:6] + "." + _RANDOM[:27],
    "digitalocean": "dop" + "_v1_" + _HEX + _HEX[:24],
}
# What must go stands in ⟦ ⟧ behind its kind; {names} are TOKENS.
FOUND = r"""
OPENAI_API_KEY=⟦secret:{openai}⟧
openai.api_key = "⟦secret:{openai}⟧"
client = OpenAI(api_key="⟦secret:{openai_project}⟧")
export ANTHROPIC_API_KEY=⟦secret:{anthropic}⟧
my key is ⟦secret:{openai}⟧, why does it not work?
stripe.api_key = '⟦secret:{stripe}⟧'
git clone https://⟦secret:{github}⟧@github.com/acme/app.git
git remote set-url origin https://anna:⟦secret:{github}⟧@github.com/acme/app
这是我的 token ⟦secret:{github_fine}⟧ 帮我看看
curl -H "PRIVATE-TOKEN: ⟦secret:{gitlab}⟧" https://gitlab.com/api/v4/projects
login(token="⟦secret:{huggingface}⟧")
<script src="https://maps.googleapis.com/maps/api/js?key=⟦secret:{google}⟧&callback=init"></script>
"client_secret": "⟦secret:{google_secret}⟧",
slack_token: ⟦secret:{slack}⟧
requests.post("https://hooks.slack.com/services/⟦secret:{slack_hook}⟧", json=body)
aws_access_key_id = ⟦secret:{aws}⟧
aws_secret_access_key = ⟦secret:{aws_secret}⟧
my aws keys: ⟦secret:{aws}⟧ and ⟦secret:{aws_secret}⟧
sg = SendGridAPIClient('⟦secret:{sendgrid}⟧')
bot = telebot.TeleBot("⟦secret:{telegram}⟧")
Authorization: Bearer ⟦secret:{jwt}⟧
let jwt = `⟦secret:{jwt}⟧`
//registry.npmjs.org/:_authToken=⟦secret:{npm}⟧
DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=⟦secret:{azure}⟧;EndpointSuffix=core.windows.net
twilio: ⟦secret:{twilio}⟧
client.run('⟦secret:{discord}⟧')
doctl auth init -t ⟦secret:{digitalocean}⟧
password = "⟦secret:hunter2⟧"
String password = "⟦secret:Tr0ub4dor&3⟧";
const dbPassword = '⟦secret:s3cr3t!⟧';
DB_PASSWORD=⟦secret:correcthorse1⟧
MYSQL_ROOT_PASSWORD: ⟦secret:r00tp@ss⟧
spring.datasource.password=⟦secret:Winter2023⟧
"password": "⟦secret:Qwerty!23⟧",
'pass': '⟦secret:mailpw99⟧'
{\"username\": \"bob\", \"password\": \"⟦secret:b0bspw⟧\"}
password: str = "⟦secret:letmein42⟧"
char password[] = "⟦secret:opensesame⟧";
#define WIFI_PASSWORD "⟦secret:myhomewifi22⟧"
const char* pwd = "⟦secret:zaq1xsw2⟧";
<password>⟦secret:Spring#2024⟧</password>
<add key="ApiKey" value="⟦secret:9f8e7d6c5b4a3210⟧" />
Server=tcp:db.acme.io;Database=app;User Id=sa;Password=⟦secret:P@ssw0rd!⟧;Encrypt=true
conn = psycopg2.connect("host=db user=app password=⟦secret:pgpass77⟧")
postgresql://app:⟦secret:s3cretpw⟧@db.internal:5432/app
mongodb+srv://admin:⟦secret:Mongo1234⟧@cluster0.ab1cd.mongodb.net/test
redis://:⟦secret:r3d1spass⟧@10.0.0.5:6379/0
amqp://guest2:⟦secret:rabbit#1⟧@mq.acme.io:5672/
CREATE USER app IDENTIFIED BY '⟦secret:Str0ngPw!⟧';
ALTER USER postgres PASSWORD '⟦secret:n3wpass⟧';
mysql -u root -p⟦secret:toor1234⟧ shop
mysqldump -h db -u app -p⟦secret:Sup3rS3cret⟧ shop > shop.sql
curl -u anna:⟦secret:pa55word⟧ https://api.acme.io/v1/items
sshpass -p ⟦secret:vps-Pass-9⟧ ssh root@box
docker login -u anna --password ⟦secret:d0cker!pw⟧
requirepass ⟦secret:foobared22⟧
Authorization: Basic ⟦secret:YW5uYTpwYTU1d29yZA==⟧
headers = {"Authorization": "Token ⟦secret:9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b⟧"}
headers = {'X-API-Key': '⟦secret:7f3d9c1b5a8e2460⟧'}
SECRET_KEY = '⟦secret:django-insecure-4$x9!k2w@p7^q⟧'
JWT_SECRET=⟦secret:kj4h5k3j4h5k3⟧
secretKey: "⟦secret:0ab1cd2ef3⟧"
encryption_key = b"⟦secret:16bytesecretkey!⟧"
api_key: ⟦secret:0123abcd4567efgh⟧
access_token=⟦secret:ya29-a0AfH6SMBx7y8z9w0⟧
session cookie: PHPSESSID=⟦secret:k2jd83hf92ks0fj39dk2⟧
my password is ⟦secret:Sommer2024⟧
The password was ⟦secret:N0tSecure⟧.
пароль: ⟦secret:Qwerty123⟧
Логин admin, пароль "⟦secret:Zima2024⟧"
мой пароль это ⟦secret:kotik2010⟧
密码是⟦secret:Abc12345⟧，登录不上
密码：⟦secret:zhang@1990⟧
数据库密码为 ⟦secret:root@2023⟧
contraseña: ⟦secret:Madrid1999⟧
https://api.acme.io/data?api_key=⟦secret:f00dfeedc0ffee42⟧&page=2
https://acct.blob.core.windows.net/c/f.txt?sv=2022-11-02&sig=⟦secret:aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW3xY5z%3D⟧
write to ⟦email:anna.schmidt@gmail.com⟧ please
From: Bob <⟦email:bob_77@mail.ru⟧>
author = "Li Lei <⟦email:lilei@qq.com⟧>"
联系邮箱⟦email:zhangsan1990@163.com⟧谢谢
почта ⟦email:ivan.petrov@yandex.ru⟧, пишите
git config user.email ⟦email:anna@schmidt-online.de⟧
mailto:⟦email:support@acme-tools.io⟧?subject=Hi
("⟦email:first.last+tag@sub.corp.co.uk⟧", "x")
INSERT INTO users VALUES (1, '⟦email:j.doe@hotmail.com⟧', 'x');
Call me at ⟦phone:+1 212 555 0123⟧ tomorrow
tel: ⟦phone:+49 30 901820⟧
phone = "⟦phone:(415) 555-2671⟧"
const mobile = '⟦phone:415-555-2671⟧'
Звоните: ⟦phone:+7 912 345-67-89⟧
телефон ⟦phone:8 (912) 345-67-89⟧
моб ⟦phone:89123456789⟧
电话：⟦phone:13812345678⟧
手机号 ⟦phone:138 1234 5678⟧
WhatsApp ⟦phone:+91 98765 43210⟧
contact: ⟦phone:+44 20 7946 0958⟧
card ⟦card:4111 1111 1111 1111⟧ exp 12/26
number: "⟦card:5500000000000004⟧"
amex ⟦card:3782 822463 10005⟧
карта ⟦card:2200-0000-0000-0004⟧
iban = "⟦iban:DE89370400440532013000⟧"
überweisen auf ⟦iban:DE89 3704 0044 0532 0130 00⟧
⟦iban:GB82 WEST 1234 5698 7654 32⟧
ssh root@⟦ip:52.14.203.77⟧
ping ⟦ip:93.184.216.34⟧ fails
upstream app { server ⟦ip:185.199.108.153⟧:8080; }
Failed password for root from ⟦ip:218.92.0.158⟧ port 22
服务器地址⟦ip:47.98.112.6⟧，端口 22
ip: ⟦ip:2606:2800:220:1:248:1893:25c8:1946⟧
  File "/home/⟦name:anna⟧/project/main.py", line 3, in <module>
cd /Users/⟦name:johnsmith⟧/code && make
C:\Users\⟦name:Ivan Petrov⟧\AppData\Local\Temp\x.log
"C:\\Users\\⟦name:lilei⟧\\source\\repos\\App\\App.sln"
file:///C:/Users/⟦name:maria⟧/Desktop/index.html
/mnt/c/Users/⟦name:bob77⟧/wsl/app
D:\Users\⟦name:Анна⟧\Documents\отчёт.docx
C:\Users\⟦name:张三⟧\Desktop\test.py
⟦name:anna⟧@laptop:~/src$ cargo build
(venv) ⟦name:bob⟧@DESKTOP-1A2B3C:/mnt/d/app$ python manage.py runserver
scp app.tar ⟦name:deploybob⟧@web1:/srv/app
auth=('anna', '⟦secret:pa55w0rd⟧')
api = tweepy.Client(bearer_token='⟦secret:AAAAAAAAAAAAAAAAAAAAAMLheAAAAAAA0BuSeid3ULvsea4JdiGRiSDSJSI⟧')
app.config['SECRET_KEY'] = '⟦secret:5791628bb0b13ce0c676dfde280ba245⟧'
app.config["MAIL_PASSWORD"] = "⟦secret:uxqk bwld pzmt asdf⟧"
smtp.login("⟦email:anna@gmail.com⟧", "⟦secret:hunter22⟧")
user: admin / pass: ⟦secret:Admin@123⟧
Password: ⟦secret:Bob$2021!⟧
ssh -i key.pem ec2-user@⟦ip:3.86.41.207⟧
$env:API_KEY = "⟦secret:abcd-1234-efgh-5678⟧"
setx OPENAI_API_KEY "⟦secret:{openai}⟧"
ENV DB_PASS ⟦secret:Ab12cd34⟧
--set adminPassword=⟦secret:S3curePw⟧
apiKey=⟦secret:AKfycbz8qLxY2vT0⟧
x-api-key: ⟦secret:da2-abcdefghijklmnopqrst12⟧
const API_KEY = '⟦secret:b6907d289e10d714a6e88b30761fae22⟧';
$password = '⟦secret:root123⟧';
mysqli_connect("localhost", "root", "⟦secret:toor99⟧", "shop");
new MySqlConnection("server=localhost;uid=root;pwd=⟦secret:1234⟧;database=test")
jdbc:mysql://db.acme.io:3306/shop?user=app&password=⟦secret:shop2020⟧
WiFi.begin("MyHome", "⟦secret:wifipass1⟧");
const char* password = "⟦secret:wifipass1⟧";
firebase: apiKey: "⟦secret:{google}⟧",
TOKEN = '⟦secret:{telegram}⟧'
我的手机号是⟦phone:15912345678⟧
身份证和邮箱 ⟦email:wanglei_88@126.com⟧
мой номер ⟦phone:+79161234567⟧
Тел.: ⟦phone:8-495-123-45-67⟧
My number is ⟦phone:(650) 253-0000⟧.
skype: bob.live, email: ⟦email:bob.live@outlook.com⟧
/Users/⟦name:annas⟧/Library/Python/3.9/bin
Traceback: File "C:\Users\⟦name:kolya⟧\PycharmProjects\bot\main.py", line 5
⟦name:kolya⟧@ubuntu:~/bot$ python3 main.py
connect ECONNREFUSED ⟦ip:34.102.136.180⟧:443
remote_addr="⟦ip:95.165.10.44⟧"
"""
# Nothing in these must go.
CLEAN = r"""
password = input("Password: ")
password = getpass.getpass()
password = request.form["password"]
const password = req.body.password;
String password = user.getPassword();
self.password = password
this.password = password1
if password == confirm_password:
if (password !== confirmPassword) {
password: string;
password: str
password: Optional[str] = None
pass: impl Into<String>
password VARCHAR(255) NOT NULL,
password = models.CharField(max_length=128)
'password' => 'required|string|min:8',
"password": "Password is required"
<input type="password" name="password" id="password" placeholder="Password">
<label for="password">Password</label>
document.getElementById("password").value
password = os.environ["DB_PASSWORD"]
password: ${DB_PASSWORD}
password={{ vault_db_password }}
password = "your_password_here"
password = "<password>"
"password": "********"
password=xxxx
postgres://user:password@localhost/db
postgresql://${USER}:${PASSWORD}@db/app
api_key = "YOUR_API_KEY"
openai.api_key = os.getenv("OPENAI_API_KEY")
OPENAI_API_KEY=sk-your-key-here
apiKey: process.env.REACT_APP_API_KEY,
token = lexer.next_token()
token: Token
tokens = tokenizer.encode(text)
max_tokens=2048, temperature=0.7
const token = await getToken(user1)
token = tokens[i + 1]
if (token.type === 'IDENTIFIER')
csrf_token = "{{ csrf_token() }}"
secret = secrets.token_hex(16)
secretName: my-tls-cert
kubectl create secret generic db
key="item-1"
map.set(key, value2)
for key, value in d.items():
"key": "value12345678"
primary key (id1)
foreign_key = 'user_id2'
keyPass = lambda x: x
bypass = "route12"
compass: "north12"
passenger = "p12345"
The password must have at least 8 characters.
How do I hash a password in PHP 8?
Как сбросить пароль root в MySQL 8?
忘记密码怎么办？
用户输入密码后点击登录
how to store a secret in Kubernetes 1.28
private key 2048-bit RSA
basic understanding of pointers
bearer authentication in FastAPI
commit 3f9a1c7e5b2d8046f1e3a5c7092b4d6e8f0a1c3e
md5: 5f4dcc3b5aa765d61d8327deb882cf99
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
id: 550e8400-e29b-41d4-a716-446655440000
integrity="sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"
color: #ff00aa; background: #1a2b3c4d;
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk
BigDecimal("12345678901234567890")
0xdeadbeefcafebabe
3.141592653589793238
user@example.com
alice@example.org, bob@test.example
git@github.com:acme/app.git
npm install lodash@4.17.21 @types/node@20.1.2
background: url("icon@2x.png");
@property
@app.route("/login", methods=["POST"])
y = X @ W.T
C = A@B
192.168.1.10:3000
127.0.0.1 localhost
0.0.0.0:8080
ping 8.8.8.8
10.0.0.0/8, 172.16.0.0/12
203.0.113.7 is for documentation
2001:db8::1
255.255.255.0
version 1.2.3.4
built with NASM 2.16.0.1
see Section 15.1.20.8
Chrome/120.0.0.0 Safari/537.36
[assembly: AssemblyVersion("12.0.14.7")]
Version=4.0.30.1, Culture=neutral
pip install foo==21.3.1.2
1.3.6.1.4.1.311
std::vector<int>::iterator it;
12:30:45.123
00:1a:2b:3c:4d:5e
2023-10-15 12:30:45
1697371845123
[2023, 10, 15, 12, 30, 45]
1234567890
13812345678
x = 100 200 300 400 500
1 2 3 4 5 6 7 8 9 10 11 12
order 1234-5678-9012-3456
ISBN 978-3-16-148410-0
1111 1111 1111 1111
SELECT * FROM t WHERE id = 4012345678901234;
/home/user/project
/home/ubuntu/app
C:\Users\Public\Documents
C:\Users\<username>\AppData
/Users/$USER/bin
~/code/app
<Route path="/home" element={<Home/>} />
https://example.com/home/products
GET /users/42
root@server:~# ls
user@host:~$ whoami
sk-learn is what I need
class="sk-circle-fade-dot sk-center"
AccountKey=<key>
if "-----BEGIN PRIVATE KEY-----" in text:
AKIAIOSFODNN7EXAMPLE
const x = a?.b?.token ?? "none";
Username: bob
pi@raspberrypi:~ $ sudo apt update
inet 192.168.0.17 netmask 255.255.255.0
password = ''.join(random.choice(chars) for i in range(12))
passwords = ["123456", "qwerty", "letmein"]
if password in common_passwords:
    raise ValueError("Password too short: 8 chars min")
user.setPassword(encoder.encode(user.getPassword()));
this.password = bcrypt.hashSync(password, 10);
let password = prompt("Enter password");
Password: _________
$password = $_POST['password'];
$stmt->bind_param("ss", $username, $password1);
@Value("${spring.datasource.password}")
private String password2;
string Password { get; set; }
passwordInput.value = "";
"passwordHash": "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"
token_type="bearer"
next_token = tokens[pos]
access_token_lifetime = timedelta(minutes=15)
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
session_id = str(uuid4())
cookie = request.cookies.get("sid")
api_key_header = APIKeyHeader(name="X-API-Key")
KEY_LENGTH = 256
key = Fernet.generate_key()
encryption key of 256 bits
public_key = load_key("id_rsa.pub")
secret_santa = ["bob", "anna"]
version = "10.4.2.1"
"dependencies": {"foo": "^12.3.4.5"}
torch-2.1.0+cu118-cp310-cp310-linux_x86_64.whl
GET /api/v1/items/1234567890123456 HTTP/1.1
lat=55.751244, lon=37.618423
0.1234567890123456
price: 1 299 990 000
2024-01-15T10:30:25.123+03:00
id 5fd8a1b2c3d4e5f6a7b8c9d0
mongodb ObjectId("507f1f77bcf86cd799439011")
aHR0cHM6Ly9leGFtcGxlLmNvbS9wYXRoL3RvL2ZpbGU=
std::unordered_map<std::string, int>::const_iterator it
C:\Program Files\Java\jdk-17\bin
/home/{user}/.config
import { Token } from './token2';
const password: string = props.password;
"""
_MARKED = re.compile(r"⟦(\w+):(.*?)⟧")


def lines(text):
    return [line for line in text.splitlines() if line]


def filled(line):
    for name, token in TOKENS.items():
        line = line.replace(f"{{{name}}}", token)
    return line


def parted(line):
    """The line as somebody wrote it, as it should come out, and what must go."""
    line = filled(line)
    secrets = [(kind, value) for kind, value in _MARKED.findall(line)]
    return _MARKED.sub(r"\2", line), _MARKED.sub(lambda match: f"<{match[1].upper()}>", line), secrets


def test_what_is_known_to_stay_or_to_go_too_far():
    """Not as it should be: nothing says what the first number is, and a name goes with its password."""
    assert scrub("appid=b6907d289e10d714a6e88b30761fae22")[1] == []
    assert scrub("login/password: admin/qwe123")[0] == "login/password: <SECRET>"


def test_there_are_enough_lines():
    assert len(lines(FOUND)) + len(lines(CLEAN)) >= 150


@pytest.mark.parametrize("line", lines(FOUND))
def test_what_must_go_goes_and_nothing_else(line):
    text, expected, secrets = parted(line)
    found, kinds = scrub(text)
    for _, value in secrets:
        assert value not in found
    assert found == expected
    assert kinds == sorted({kind for kind, _ in secrets})


@pytest.mark.parametrize("line", lines(CLEAN))
def test_what_is_no_secret_stays(line):
    assert scrub(line) == (line, [])
