"""Pages that came with HTTP 200 and are no references, and pages that only look like it."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from devqa.web.cleaning.clean import clean_page
from devqa.web.cleaning.quality import no_reference

_OPTIONS = {
    "timeout_s": 20,
    "max_bytes": 1_500_000,
    "max_tags": 60_000,
    "min_characters": 200,
    "max_characters": 200_000,
}
_REFERENCES = Path(__file__).parents[3] / "shared" / "data" / "references" / "references.parquet"
_FOOT = "\n\nAbout us\n\nTerms of use\n\nPrivacy policy\n\nCopyright of the site's owner. All rights reserved." * 3
_ARTICLE = (
    "A server answers each request with a status, and what it says is not always what a reader sees. This article goes "
    "through the cases one by one, with the configuration for each of them and what to look for in the log. "
)

# Kind, title, main text.
_PAGES = [
    # English
    ("bot check", "Just a moment...", "e.example\n\nVerify you are human by completing the action below." + _FOOT),
    ("bot check", "Just a moment...", "Checking if the site connection is secure" + _FOOT),
    ("bot check", "e.example", "Checking your browser before accessing e.example.\n\nThis process is automatic."),
    (
        "bot check",
        "Attention Required! | Cloudflare",
        "Sorry, you have been blocked\n\nYou are unable to access e.example",
    ),
    ("bot check", "Access Denied", 'You don\'t have permission to access "http://e.example/" on this server.'),
    ("bot check", "Access to this page has been denied.", "Press & Hold to confirm you are a human (and not a bot)."),
    ("bot check", "Pardon Our Interruption", "As you were browsing something about your browser made us think" + _FOOT),
    ("bot check", "Making sure you're not a bot!", "You are seeing this because the administrator has set up Anubis."),
    ("bot check", "Vercel Security Checkpoint", "We’re verifying your browser"),
    ("bot check", "e.example", "Please enable JavaScript and cookies to continue"),
    ("bot check", "Client Challenge", "JavaScript is off in your browser. Please turn it on to proceed."),
    ("bot check", "Robot or human?", "Activate and hold the button to confirm that you’re human. Thank You!"),
    (
        "rate limit",
        "https://e.example/search?q=x",
        "Our systems have detected unusual traffic from your computer network." + _FOOT,
    ),
    ("rate limit", "Too Many Requests - Stack Site", "This IP is only allowed to access our site once a day." + _FOOT),
    ("rate limit", "", "429 Too Many Requests"),
    ("rate limit", "Error", "You have exceeded the rate limit. Wait an hour."),
    ("login wall", "Sign in · Code Site", "You need to sign in or sign up before continuing." + _FOOT),
    ("login wall", "Log in | Network", "Log in to continue\n\nEmail\n\nPassword\n\nForgot password?" + _FOOT),
    (
        "login wall",
        "Sign in - Acme",
        "Sign in to your account to continue to the documentation. Email Password Remember me Forgot your password? "
        "Create an account" + _FOOT,
    ),
    ("login wall", "Acme", "Welcome back\n\nEmail address\n\nPassword\n\nShow\n\nKeep me signed in\n\nSign in" + _FOOT),
    ("login wall", "Log in", "Welcome\n\nUsername or email\n\nPassword\n\nNo account yet? Ask for one." + _FOOT),
    ("login wall", "Forum", "You must be logged in to view this content."),
    (
        "login wall",
        "Network",
        "Create your account and connect with a world of communities.\n\nBy continuing, you agree",
    ),
    (
        "consent wall",
        "Before you continue to Search",
        "We use cookies and data to\n\nDeliver and maintain services" + _FOOT * 3,
    ),
    ("consent wall", "News", "Please accept all cookies to continue to the site."),
    ("paywall", "How we scaled to ten million users", "We had one server.\n\nSubscribe to continue reading" + _FOOT),
    ("paywall", "A story", "This article is for paid subscribers."),
    ("page not found", "404 Not Found", "nginx"),
    (
        "page not found",
        "Page not found – A Blog",
        "Oops! That page can’t be found.\n\nIt looks like nothing was found here." + _FOOT,
    ),
    (
        "page not found",
        "Error 404 (Not Found)!!1",
        "404. That’s an error.\n\nThe requested URL /x was not found on this server.",
    ),
    ("page not found", "Docs", "Sorry, the page you are looking for could not be found."),
    ("page not found", "Manual", "The page you requested does not exist. You may have followed a bad link."),
    ("page not found", "404: This page could not be found.", "404"),
    ("page not found", "Site", "We can't find the page you're looking for."),
    ("parked domain", "e.example", "This domain is for sale!\n\nBuy this domain" + _FOOT * 2),
    ("parked domain", "e-shop.example is for sale | Domains", "Make an offer." + _FOOT * 4),
    ("parked domain", "e.example", "This domain is registered at a registrar of names." + _FOOT),
    ("empty application", "App", "You need to enable JavaScript to run this app."),
    ("empty application", "Docs", "Please enable Javascript to use this application"),
    (
        "server's default page",
        "Welcome to nginx!",
        "If you see this page, the nginx web server is successfully installed.",
    ),
    ("server's default page", "Apache2 Ubuntu Default Page: It works", "It works!\n\n" + _ARTICLE * 8),
    ("server's default page", "", "It works!"),
    ("server error", "Answers", "Something went wrong. Wait a moment and try again."),
    ("server error", "502 Bad Gateway", "nginx/1.24"),
    (
        "server error",
        "Docs",
        "Application error: a client-side exception has occurred while loading e.example (see the browser console for "
        "more information)." + _FOOT,
    ),
    ("server error", "Application Error", "An error occurred in the application and your page could not be served."),
    ("server error", "We're sorry, but something went wrong (500)", "If you are the application owner check the logs."),
    ("server error", "Server Error (500)", "Server Error (500)"),
    ("server error", "A blog › Error", "There has been a critical error on this website. Learn more." + _FOOT),
    (
        "server error",
        "500 Internal Server Error",
        "The server encountered an internal error or misconfiguration and was unable to complete your request." + _FOOT,
    ),
    (
        "error report",
        "500 Internal Server Error",
        "Fatal error: Uncaught Exception in /var/www/html/index.php:12 Stack trace: " + "#0 {main} thrown " * 90,
    ),
    (
        "error report",
        "A shop",
        "PHP Fatal error: Uncaught Error: Call to undefined function f() in /var/www/html/a.php:3\nStack trace:\n"
        "#0 /var/www/html/b.php(7): g()\n#1 {main}\n thrown in /var/www/html/a.php on line 3",
    ),
    (
        "error report",
        "Internal Server Error",
        "Traceback (most recent call last):\n" + 'File "/srv/a.py", line 1\n' * 70,
    ),
    (
        "error report",
        "Whitelabel Error Page",
        "This application has no explicit mapping for /error" + "\nat a.B.c" * 200,
    ),
    (
        "error report",
        "KeyError: 'x' // Werkzeug Debugger",
        "KeyError\n\n```\nTraceback (most recent call last)\n```\n" + _ARTICLE * 8,
    ),
    ("maintenance", "Wiki", "We are currently undergoing scheduled maintenance. Please check back soon."),
    ("maintenance", "Site maintenance", "We'll be back soon!" + _FOOT),
    ("unsupported browser", "Tracker", "This version of your browser is not supported.\n\nTry upgrading."),
    ("redirection", "Redirecting…", "If you are not redirected, click here."),
    ("redirection", "", "The page has been moved to Release notes"),
    (
        "directory listing",
        "Index of /pub/src",
        "Name Last modified Size Description\n\nParent Directory\n\na.tar.gz 2024" * 20,
    ),
    # Chinese
    ("bot check", "请稍候…", "e.example\n\n正在验证您是否是真人。这可能需要几秒钟时间。"),
    ("bot check", "百度安全验证", "网络不给力，请稍后重试\n\n返回首页"),
    ("bot check", "验证", "请完成下方验证后继续操作"),
    ("rate limit", "提示", "您的访问过于频繁，请稍后再试。"),
    ("login wall", "登录 - 某论坛", "您需要登录后才可以查看本帖内容。没有账号？立即注册"),
    (
        "login wall",
        "用户登录 - 文档中心",
        "欢迎回来\n\n手机号/邮箱\n\n密码\n\n记住我 忘记密码？\n\n还没有账号？立即注册" + "页脚" * 60,
    ),
    ("login wall", "文档中心", "用户名\n\n密码\n\n忘记密码？" + "页脚" * 60),
    ("login wall", "知识社区", "登录后即可查看全部内容"),
    ("consent wall", "某站", "本网站使用 Cookie 以改善您的体验。"),
    ("paywall", "某教程第五章", "先看目录。\n\n本文为付费专栏文章，订阅后可阅读。"),
    ("page not found", "404", "很抱歉，您访问的页面不存在！"),
    ("page not found", "页面不存在 - 某博客", "返回首页\n\n热门文章"),
    ("page not found", "提示信息", "抱歉，该文章已被删除。"),
    ("parked domain", "e.example", "您正在访问的域名正在出售，有意者请联系。"),
    ("empty application", "应用", "您需要启用 JavaScript 才能运行此应用。"),
    ("server's default page", "恭喜，站点创建成功！", "这是默认index.html，本页面由系统自动生成"),
    ("maintenance", "某站", "尊敬的用户：本网站正在进行系统维护，请稍后访问。"),
    ("server error", "某站", "系统繁忙，请稍后再试"),
    # Russian
    ("bot check", "Вы не робот?", "Подтвердите, что запросы отправляли вы, а не робот"),
    ("bot check", "Один момент…", "Проверяем, что вы человек. Это может занять несколько секунд."),
    ("rate limit", "Ошибка", "Слишком много запросов. Повторите попытку позже."),
    ("login wall", "Вход на форум", "Для просмотра этой темы необходимо войти на сайт.\n\nИмя\n\nПароль"),
    ("login wall", "Вход — Документация", "Эл. ящик\n\nE-mail\n\nПароль\n\nНет аккаунта? Создайте его." + _FOOT),
    ("login wall", "Документация", "Логин или e-mail\n\nПароль\n\nЗапомнить меня\n\nЗабыли пароль?" + _FOOT),
    ("login wall", "Форум", "Пожалуйста, авторизуйтесь, чтобы увидеть это сообщение."),
    ("consent wall", "Сайт", "Этот сайт использует файлы cookie."),
    ("paywall", "Как мы писали базу данных", "Сначала был файл.\n\nОформите подписку, чтобы дочитать статью."),
    ("page not found", "Ошибка 404", "К сожалению, запрашиваемая вами страница не найдена."),
    ("page not found", "Страница не найдена — Блог", "Вернуться на главную" + _FOOT[:100]),
    ("page not found", "Блог", "Извините, такой страницы не существует."),
    ("parked domain", "e.example", "Домен e.example продаётся. Купить домен"),
    ("empty application", "Приложение", "Включите поддержку JavaScript в браузере."),
    ("maintenance", "Сайт", "На сайте ведутся технические работы. Приносим извинения."),
    ("unsupported browser", "Сайт", "Ваш браузер устарел. Обновите его."),
]

# Title, main text: none of them is a wall.
_HARD = [
    # They are about the thing.
    ("Just a moment: what Cloudflare checks - A Blog", _ARTICLE + "Checking your browser is the first step of it."),
    ("How Cloudflare's bot check works", "Verify you are human by completing the action below. " + _ARTICLE * 4),
    (
        "Selenium stuck at a Cloudflare check",
        "I open the site and see “Checking your browser before accessing”. " + _ARTICLE,
    ),
    (
        "python - unusual traffic - Q&A",
        'Google says "Our systems have detected unusual traffic from your computer network".',
    ),
    ("HTTP 404", "The status 404 Not Found means that the server has no page at the address. " + _ARTICLE),
    ("404 Not Found - HTTP | Reference", _ARTICLE + "The page could not be found by the server."),
    ("429 Too Many Requests - HTTP | Reference", "Too many requests were sent in a given time. " + _ARTICLE * 2),
    (
        "Custom error pages",
        "Return this:\n\n```html\n<h1>Page not found</h1>\n```\n\nThe page you are looking for does not exist.",
    ),
    ("Sign in | API reference", "POST /login takes a name and a password, and returns a token for further calls."),
    ("Log in with OAuth - Guide", "Users log in to your application with their account. " + _ARTICLE),
    ("Login", "The `Login` command starts a session. Arguments: user, host, and a port that is 22 by default. " * 3),
    (
        "How to require log-in for a page",
        "You must be logged in to view this page, says the decorator's message. " + _ARTICLE * 2,
    ),
    ("react - You need to enable JavaScript to run this app", _ARTICLE + "It is the text of the noscript element."),
    ("Why does the server say Welcome to nginx", "Welcome to nginx! is shown where no other site matches. " + _ARTICLE),
    ("Welcome to nginx documentation", _ARTICLE),
    ("How to sell a domain", "This domain is for sale, says a parked page. " + _ARTICLE * 6),
    ("Maintenance mode in frameworks", "php artisan down puts the application into maintenance mode. " + _ARTICLE),
    ("Maintenance - PostgreSQL manual", "Routine maintenance tasks are needed for good performance. " + _ARTICLE),
    ("502 Bad Gateway with nginx and uwsgi", "I get 502 Bad Gateway from time to time. " + _ARTICLE),
    ("Internal Server Error - Reference", "An unexpected condition was met. " + _ARTICLE),
    ("Captcha", "A captcha tells people from programs. " + _ARTICLE),
    ("Access denied for user 'root'@'localhost'", "You don't have permission to access the table. " + _ARTICLE),
    ("Access Denied - S3 errors", "The bucket's policy does not let you read the object. " + _ARTICLE),
    ("Redirection", "Redirection sends the output of a command to a file: `ls > files`. " + _ARTICLE),
    ("Cookies", "This site uses cookies to explain cookies. " + _ARTICLE * 2),
    (
        "GDPR consent with JavaScript",
        "Please accept all cookies to continue, is what a banner may say. " + _ARTICLE * 2,
    ),
    ("Subscribe to a topic - Messaging", "Subscribe to read messages of a topic as they come. " + _ARTICLE * 3),
    ("Loading...", "Show a spinner while data is loading. " + _ARTICLE),
    ("Index of lists - Algorithms", "The index of an element is where it stands. " + _ARTICLE),
    ("Coming soon: version 5", "Version 5 will have pattern matching, and the old parser is removed. " + _ARTICLE),
    ("Robots.txt: too many requests from bots", "Crawlers send too many requests. " + _ARTICLE),
    ("Is it human or robot? A classifier", _ARTICLE),
    # Errors that somebody asks about, or explains.
    (
        "php - Fatal error: Uncaught Exception - Q&A",
        "Fatal error: Uncaught Exception in /var/www/html/index.php:12. Stack trace below. What is wrong here?",
    ),
    ("python - Internal Server Error - Q&A", "I get this. Traceback (most recent call last): File a.py. " + _ARTICLE),
    (
        "TypeError at /accounts/login/ - Q&A",
        "My view fails.\n\n```\nTraceback (most recent call last)\n```\n" + _ARTICLE,
    ),
    ("Whitelabel Error Page", "Spring Boot shows it when no handler is found. It says that " + _ARTICLE),
    ("Error", "Error: the base of all errors. It has a message and a stack. " + _ARTICLE),
    ("Error - JavaScript | Reference", "Error objects are thrown when runtime errors occur. " + _ARTICLE),
    ("Server Error in '/' Application - how to see more", "Set customErrors to Off. " + _ARTICLE),
    ("Stack traces", "Stack trace: the calls that led to an error. " + _ARTICLE),
    # Forms and lists of files that somebody explains.
    ("Sign in to the dashboard", "Log in to your account, open Settings, and choose API keys. " + _ARTICLE),
    (
        "Login form - UI kit",
        "Email, password and a button make a form. A link for a password that is lost. " + _ARTICLE,
    ),
    (
        "Sign in with Google - Guide",
        "Sign in with Google lets users of your site use the account they have. " + _ARTICLE,
    ),
    ("POST /login", "Email\n\nPassword\n\nBoth are strings, and both are required. " + _ARTICLE),
    (
        "Index of /",
        "The server lists a folder when it has no index.html in it. Turn it off with Options. " + _ARTICLE * 2,
    ),
    ("http.server", "Directory listing for / is what it shows. Name, size and date are not. " + _ARTICLE),
    ("Endpoints - /users", "Name\n\nSize\n\nThe size is in bytes. " + _ARTICLE),
    # Short texts of manuals.
    ("page_exists", "Returns True if the page exists. Raises NotFound if the page is not found in the cache."),
    ("File not found handling", "open() raises FileNotFoundError where the file does not exist."),
    ("tex2D", "The value of the texture data. This function is supported in the following shader models."),
    ("isAvailable", "Says whether the resource is available. A resource that was deleted is not."),
    # Chinese
    (
        "如何自定义404页面",
        "当用户访问的页面不存在时，服务器返回状态码404。" + "本文介绍在框架里配置自定义错误页面的方法。" * 12,
    ),
    ("登录接口 - 接口文档", "登录接口接收用户名和密码，返回令牌。令牌有效期为两小时，过期后需要重新获取。"),
    ("滑块验证的原理", "请拖动滑块完成验证，这句话大家都见过。" + "本文说明它在前端和后端分别是怎样实现的。" * 15),
    ("网站维护模式的实现", "维护模式会让所有请求返回状态码503。" + "下面给出配置的例子和需要注意的地方。" * 10),
    ("登录表单的设计", "用户名、密码和按钮组成表单。" + "本文说明每个部分应该怎样写。" * 20),
    # Russian
    ("Форма входа", "Логин и пароль передаются в теле запроса. " + "Ниже описаны поля и ошибки. " * 10),
    (
        "Страница 404 в Django",
        "Если страница не найдена, сервер возвращает код 404. " + "Ниже описана настройка своего шаблона. " * 10,
    ),
    (
        "Авторизация в API",
        "Авторизация нужна для каждого запроса: передайте ключ в заголовке. Ключ выдается в кабинете.",
    ),
    (
        "Как работает капча",
        "Подтвердите, что вы не робот, просит сайт. " + "Разберем, как устроена проверка на сервере. " * 14,
    ),
    ("Технические работы: как показать заглушку", "Пока идет обновление, сервер отдает код 503. " * 8),
]


@pytest.mark.parametrize(("kind", "title", "text"), _PAGES)
def test_walls_and_blanks_are_named(kind, title, text):
    reason = no_reference([title, text.split("\n")[0]], text)
    assert reason.partition(":")[0] == kind
    # The ledger counts by what stands before the first colon.
    assert reason.count(":") == 1
    assert len(reason) < 100


@pytest.mark.parametrize(("title", "text"), _HARD)
def test_pages_about_them_are_none(title, text):
    assert no_reference([title], text) == ""


def test_each_language_and_kind_is_tried():
    assert len(_PAGES) >= 40
    assert len(_HARD) >= 30


@pytest.mark.parametrize(
    ("markup", "kind"),
    [
        ("<script>window._cf_chl_opt={cvId:'3'};</script>", "bot check"),
        ("<script src='https://geo.captcha-delivery.com/c.js'></script>", "bot check"),
        ('<div id="px-captcha"></div>', "bot check"),
        ('<script id="anubis_challenge" type="application/json">{}</script>', "bot check"),
        (
            '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>',
            "empty application",
        ),
        ("<body><app-root></app-root><script src=main.js></script>", "empty application"),
        ('<body><div id="__next"></div><script src=main.js></script>', "empty application"),
    ],
)
def test_markup_counts_where_there_is_no_text(markup, kind):
    page = clean_page(f"<html><head><title>e.example</title></head>{markup}</html>".encode(), "text/html", "", _OPTIONS)
    assert (page.status, page.reason) == ("rejected", f"{kind}: by its markup")
    article = f"<html><head><title>On caches</title></head><body>{markup}<p>{_ARTICLE * 4}</p></body></html>"
    assert clean_page(article.encode(), "text/html", "", _OPTIONS).status == "ok"


def test_scripts_of_a_network_in_front_of_an_ordinary_page_do_not_count():
    script = "<script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js></script>"
    page = clean_page(f"<html><body><p>{_ARTICLE}</p>{script}</body></html>".encode(), "text/html", "", _OPTIONS)
    assert page.status == "ok"


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (
            "<title>Sign in · Code</title><body><nav><a href=/>Home</a><a href=/x>Explore</a></nav><h1>Sign in</h1>"
            "<form><p>You need to <a href=/l>sign in</a> to continue.</p><input type=password name=p></form>",
            "login wall: you need to sign in",
        ),
        (
            "<title>Not Found (#404)</title><body><nav><a href=/>Home</a></nav><h1>Page not found</h1>"
            f"<p>We are sorry.</p><div><p>{'You may like our other pages, which are many. ' * 12}</p></div>"
            "<p>The page you are looking for might have been removed.</p>",
            "page not found: page not found",
        ),
        (
            "<title>Index of /pub</title><h1>Index of /pub</h1><pre><a href='?C=N'>Name</a>  Last modified\n"
            + "".join(f"<a href=f{n}.tar.gz>f{n}.tar.gz</a> 2024-01-01 {n}M\n" for n in range(40))
            + "<a href='/'>Parent Directory</a></pre>",
            "directory listing: index of /pub",
        ),
        ("<body><p>All is well with this page, but it is short.</p>", "too short: 44 characters"),
    ],
)
def test_whole_pages(page, reason):
    cleaned = clean_page(f"<!DOCTYPE html><html>{page}</html>".encode(), "text/html", "https://e.example/", _OPTIONS)
    assert (cleaned.status, cleaned.reason) == ("rejected", reason)


def test_plain_text_is_looked_at_too():
    page = clean_page(b"404: Not Found", "text/plain", "https://raw.example/a.txt", _OPTIONS)
    assert (page.status, page.reason) == ("rejected", "page not found: 404 not found")


@pytest.mark.parametrize("text", ["a. " * 60_000, "name " * 40_000, "\n* " * 60_000, "the page " * 20_000])
def test_long_texts_take_no_time_at_all(text):
    assert no_reference(["Index of /x"], text) == ""


@pytest.mark.parametrize(
    "part",
    [
        '<a href="x.y">z',
        '<a href="a/',
        "<pre>",
        "</a> ",
        '<table aria-describedby="summary">',
        "<li><a href=",
        "1:1 am ",
    ],
)
def test_long_markup_takes_no_time_at_all(part):
    assert no_reference(["Notes"], "", part * 20_000) == ""


@pytest.mark.skipif(not _REFERENCES.is_file(), reason="the collected references are not here")
def test_of_real_references_hardly_any_is_rejected():
    texts = [text or "" for text in pq.read_table(_REFERENCES, columns=["text"]).column("text").to_pylist()]
    usable = [text for text in texts if len(text) >= _OPTIONS["min_characters"]]
    rejected = [text for text in usable if no_reference([text.split("\n")[0]], text)]
    assert len(usable) > 2_000
    # Four pages of frames, which a browser without them would not show.
    assert all("JavaScript is disabled" in text for text in rejected)
    assert len(rejected) <= 4
