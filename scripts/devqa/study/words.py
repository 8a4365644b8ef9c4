"""Is a prompt about software development? By its words and by what looks like code; in English, Chinese and Russian.

The weights are set by hand, for a first pass that must not lose much: what it lets through is looked at by a model
later. A word that decides, or something that only code has, is enough by itself. Things that people have made for
them (a program, a script) need a request to make them or another hint. Hints add up to little, and to less in a long
text, which has some of them whatever it is about.
"""

import math
import re
from collections import Counter
from functools import lru_cache

# What evidence of each kind weighs, and up to how much in all.
_DECIDES, _MADE, _ASKED, _HINTS, _AGAINST = 3.0, 1.5, 1.25, 0.75, -1.5
_MOST_DECIDED, _MOST_MADE, _MOST_HINTED, _MOST_AGAINST = 9.0, 3.0, 2.25, -4.5
# The sum at which the score is a half, and the one from which no more evidence is looked for.
_EVEN, _SURE = 2.5, 6.0
# Different words from which on a text is long.
_MANY_WORDS = 60


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Names of languages, libraries, tools and formats, and words that hardly anybody else uses.
_DECIDING_WORDS = _words("""
    python python3 javascript js typescript ts java kotlin scala php perl ruby rust golang cpp csharp fortran haskell
    clojure erlang elixir lua luau cobol pascal delphi matlab octave vba vbscript powershell bash zsh shell sql mysql
    postgres postgresql sqlite mongodb redis nosql plsql html html5 css css3 sass scss xml xpath xslt json yaml toml
    csv regex regexp latex jquery react reactjs redux angular vue vuejs nuxt nextjs svelte nodejs npm yarn webpack
    django flask fastapi laravel symfony rails springboot hibernate maven gradle junit pytest selenium playwright
    puppeteer jest numpy pandas matplotlib seaborn scipy sklearn tensorflow keras pytorch torch opencv huggingface
    gensim nltk spacy langchain llama pyqt pyqt5 pyqt6 tkinter pygame unity3d godot unreal roblox opengl vulkan
    directx webgl glsl hlsl cuda opencl arduino esp32 esp8266 stm32 verilog vhdl fpga raspberry rtos docker dockerfile
    kubernetes k8s helm terraform ansible jenkins github gitlab bitbucket git svn devops linux ubuntu debian centos
    systemd nginx apache tomcat aws ec2 s3 azure gcp firebase supabase heroku graphql grpc kafka rabbitmq
    elasticsearch kibana grafana prometheus airflow hadoop databricks snowflake dbt etl dwh api apis sdk gui cli ide
    vscode intellij pycharm xcode android ios swiftui flutter dart cocoa wpf winforms xaml blazor linq asp dotnet .net
    websocket websockets oauth jwt cors crud orm mvc mvvm dto uml http2 tcp udp ssh ftp sftp dns tls ssl vpn cron
    crontab backend frontend fullstack codebase refactor refactoring debug debugger debugging debugged compiler
    compile compiles compiled compiling decompile segfault stacktrace traceback nullpointerexception runtime
    middleware microservice microservices serverless multithreading multithreaded mutex semaphore deadlock async
    asynchronous await coroutine coroutines goroutine recursion recursive memoization leetcode codeforces hackerrank
    subclass superclass polymorphism struct structs enum enums typedef namespace boolean bool int uint8 uint32 malloc
    nullptr args kwargs stdin stdout stderr printf println scanf cin cout iostream webhook webhooks chatbot dataframe
    dataframes autoencoder lstm rnn cnn gan bert word2vec algorithm algorithms pseudocode programmer programmers
    programming programmatically coder coding snippet snippets subroutine fn fnonce kde ecdf discord.py telegram-bot
    aiogram telebot beautifulsoup scrapy scraper scraping crawler assembler nasm x86 x64 arm64 opcode firmware
    bootloader solidity ethereum web3 blockchain hardhat metamask wordpress shopify woocommerce drupal magento
    excel-vba autohotkey applescript unix posix makefile cmake gcc clang llvm msvc openai prolog lisp ocaml autolisp
    abap salesforce sas stata spss r-studio rstudio ggplot2 tidyverse dplyr tailscale wireguard tailwind ajax dom svg
    servlet jsp jdbc jvm jdk tensor hyperparameter scikit xgboost lightgbm dataset datasets c++ c# f# objective-c
    nestjs prisma typeorm sequelize hardcoded codepen stackoverflow jsx tsx usestate useeffect setstate localhost
    mikrotik iptables subnet chmod sudo grep sed awk vim emacs tmux
""")
_MADE_WORDS = _words("""
    code function functions app apps application applications software script scripts program programs website webpage
    plugin plugins bot bots query queries database databases module class method shader library framework server macro
    extension component
""")
_ASKING_WORDS = _words("""
    write make create develop build generate give show implement code rewrite convert fix add explain help need want
    writing creating making building
""")
_HINTING_WORDS = _words("""
    methods classes http https swift unity assembly spring express oracle scheme transformer canvas crawling codes
    eclipse kernel streamlit pods flash monad compose userspace device embeddings promql ssms column arrays ml llm
    llms object objects variable variables parameter parameters argument arguments array string strings integer loop
    loops list tuple dictionary hash hashmap tree graph node nodes table tables columns db servers client browser bug
    bugs error errors exception exceptions crash warning implementation implements developer developers libraries
    package modules endpoint request response file files folder directory path command commands terminal console log
    logs input output button form checkbox textbox dropdown template components render widget test tests unit testing
    deploy deployment install installed configuration config version repository repo commit branch merge pull push
    cache memory pointer stack queue heap thread threads process driver token tokens encryption decrypt encrypt parse
    parser parsing syntax type types interface generic abstract static null undefined true false return print import
    export neural model models training train classifier regression clustering automation automate scrape download
    upload domain host hosting cloud cluster container timestamp id url uri link binary hex byte bytes bit bits float
    double char matrix pixel pixels sprite game closure trait lambda iterator generator callback event events listener
    handler state router route schema migration index key keys value values field fields attribute attributes property
    properties selector tag tags expression operator statement condition conditional if else switch case complexity
    optimize performance prime sort sorting search windows macros excel spreadsheet formula cell cells vector layer
    network webserver proxy firewall bandwidth protocol packet packets port ports admin login password authentication
    requirements architecture scrum agile sprint tickets technical user ui ux web mobile data cpu gpu ram
""")
_AGAINST_WORDS = _words("""
    story stories essay poem novel recipe lyrics song screenplay episode character characters dialogue fanfic anime
    midjourney photorealistic bokeh patient diagnosis symptoms medical marketing seo
""")

# Beginnings of Russian words.
_DECIDING_STEMS = _words("""
    программист программиров питон джава джаваскрипт алгоритм компилир компилят рекурс массив регулярк репозитор
    фреймворк верстк бэкенд бекенд фронтенд баг багов отлад отладк дебаг линукс убунту докер гит гитхаб юнити ардуин
    эндпоинт интерпретатор ассемблер микроконтроллер прошивк датасет датафрейм парсер парсинг рефактор джанго постгрес
    кодинг многопоточн асинхрон подсет микротик
""")
_MADE_STEMS = _words("""
    скрипт срипт код кода коде коду кодом коды программ функци приложени сайт лендинг плагин бот бота боту ботом
    макрос класс метод запрос библиотек модул сервер база базу базе нейросет компонент
""")
_ASKING_STEMS = _words("""
    напиш написа созда сдела сгенерир добав исправ реализ перепиш допиш дай помоги переде покаж разработ объясн как
    нужн нужен давай
""")
_HINTING_STEMS = _words("""
    объект переменн параметр аргумент строк числ список списк списка словар кортеж цикл дерев граф таблиц столб столбц
    данных клиент браузер страниц ошибк исключен пакет файл папк каталог путь путей команд терминал консол лог ввод
    ввода вывод ввест вывест введ вывед выводи кнопк форм шаблон тест установ настро конфиг верси памят указател стек
    очеред поток процесс драйвер токен шифр дешифр парс синтаксис тип типа интерфейс возвращ модел автоматиз скача
    загруз хостинг бинарн двоичн байт бит бита бинар матриц пиксел обработчик индекс ключ значени атрибут свойств
    оператор услови сложност оптимиз сортир поиск эксел ячейк ячеек сеть сети прокси порт порта портов логин парол
    авториз аутентиф архитектур сегмент последовательност элемент вершин ребер итерир директор формат веб админ
    операцион виндовс винд клетк маршрутизатор сопрограмм кодировк программу телеграм
""")
_AGAINST_STEMS = _words("""
    рассказ сказк стих эссе сочинен сценари рецепт роман песн повест пациент диагноз заболеван истори статью пост
    поста новост отзыв промт промпт
""")
# Chinese has no spaces: these are looked for anywhere.
_HAN = re.compile(r"[\u4e00-\u9fff]")
_HAN_WORDS = (
    (
        _DECIDES,
        re.compile(
            "代码|编程|程序员|源码|算法|编译|函数|数组|指针|字符串|数据库|前端|后端|正则|爬虫|调试|报错|线程|递归|链表|二叉树|单元测试|服务器|虚拟机"
            "|嵌入式|单片机|神经网络|深度学习|机器学习|微服务|命令行|面向对象|数据结构|异步|并发|中间件|依赖注入|爬取|软件开发|程序设计"
        ),
    ),
    (_MADE, re.compile("程序|脚本|软件|网站|网页|插件|组件|接口|框架|变量|查询|控件|部署|缓存|路由|终端|操作系统")),
    (_ASKED, re.compile("写|编|实现|生成|帮我|开发|制作|修改|解释|如何|怎么")),
    (
        _HINTS,
        re.compile(
            "错误|异常|方法|参数|对象|列表|字典|循环|表格|数据|浏览器|客户端|文件|目录|路径|命令|安装|配置|版本|测试|模块|按钮|表单|输入|输出|内存"
            "|进程|队列|加密|解密|协议|端口|网络|模型|训练|矩阵|排序|索引|字段|属性|系统|用户|登录|密码|自动化|下载|上传|优化|性能|架构"
            "|需求|解析|运行|打印|返回|类型|页面|渲染|像素|驱动"
        ),
    ),
    (_AGAINST, re.compile("故事|小说|作文|诗|剧本|歌词|文案|患者|食谱|营销|作业批改")),
)
_TOKEN = re.compile(r"\.?[a-z][a-z0-9_]*(?:\+\+|#|[.-][a-z][a-z0-9]*)?|[а-яё]+(?:-[а-яё]+)?")
_SHORTEST_STEM, _LONGEST_STEM = 2, 14

# Signs that code leaves, which are found much faster than what they may belong to.
_SIGNS = tuple("`<>({[_;#+.=|:$") + ("rror", "xception", "raceback")
# What looks like code, or like what a computer says, looked for only where the text has one of the signs or of the
# words in front. Each takes time in proportion to the text: no part repeats what the one beside it also takes.
_CODE = tuple(
    (frozenset(signs), _words(words), re.compile(pattern, flags), weight)
    for signs, words, pattern, flags, weight in (
        ("`", "", r"```", 0, _MADE),
        ("=>({+|:", "", r"=>|->|::|&&|\|\||!=|==|\+\+|\+=|\$\{|\{\{|</|/>|\(\)", 0, _MADE),
        (
            "<",
            "",
            r"</?(?:div|span|html|head|body|script|style|table|input|form|button|img|ul|li|svg|g|p)\b",
            0,
            _DECIDES,
        ),
        (
            ("rror", "xception", "raceback"),
            "",
            r"Traceback \(most|[a-z]Error\b|[a-z]Exception\b|\b(?:fatal )?error:",
            0,
            _DECIDES,
        ),
        ("", "select insert", r"\bselect\b[^;]{1,300}?\bfrom\b|\binsert into\b", re.IGNORECASE, _MADE),
        ("#+", "", r"(?<![\w#])[CcСс](?:#|\+\+)", 0, _DECIDES),
        (
            "",
            "include import using",
            r"^[ \t]*(?:#\s?include\b|(?:from [\w.]+ )?import [\w{*]|using [\w.]+;)",
            re.MULTILINE,
            _DECIDES,
        ),
        (
            ".",
            "",
            r"\w\.(?:py|js|ts|jsx|tsx|java|cpp|hpp|cs|go|rs|php|rb|html|css|json|ya?ml|xml|sh|sql|ipynb|dll|exe|jar|vue|kt|swift"
            r"|lua|csv|ini|cfg|conf)\b",
            0,
            _MADE,
        ),
        (
            "(",
            "",
            r"\b(?:def|function|func|fn|sub|void|int|class) \w+ ?\(|\w\.\w+\(|\b[a-z]+_[a-z_]+\(",
            0,
            _DECIDES,
        ),
        ("{;", "", r"[;{][ \t]*\n[^\n]*[;{}][ \t]*(?:\n|\Z)", 0, _DECIDES),
        (
            "",
            "class struct public private static const let var",
            r"\b(?:class|struct|public|private|static|const|let|var) \w+ ?[<>=({:]",
            0,
            _DECIDES,
        ),
        ("_(", "", r"\b[a-z]+_[a-z]|\b\w+\(\w*\)", 0, _MADE),
        ("[", "", r"\b\w+\[\w+\]", 0, _MADE),
        (
            "$",
            "sudo npm pip pip3 git docker cd apt apt-get",
            r"^[ \t]*(?:\$ |sudo |npm |pip3? |git |docker |cd |apt(?:-get)? )",
            re.MULTILINE,
            _DECIDES,
        ),
    )
)


def score(text: str) -> float:
    """From 0 to 1, how surely `text` is about software development; 0.5 where that is even."""
    words = set(_TOKEN.findall(text.lower()))
    total = _said(text, words)
    if total < _SURE:
        total += _looked_like(text, words)
    return 1 / (1 + math.exp(_EVEN - total))


def _said(text: str, words: set[str]) -> float:
    """What the words of a text weigh."""
    counts = Counter(map(_weight, words))
    if _HAN.search(text):
        counts.update({weight: len(set(pattern.findall(text))) for weight, pattern in _HAN_WORDS})
    clear = min(_DECIDES * counts[_DECIDES], _MOST_DECIDED) + max(_AGAINST * counts[_AGAINST], _MOST_AGAINST)
    vague = min(_MADE * counts[_MADE], _MOST_MADE) + min(_HINTS * counts[_HINTS], _MOST_HINTED)
    if counts[_MADE] and counts[_ASKED]:
        vague += _ASKED
    return clear + vague * min(1.0, _MANY_WORDS / max(1, len(words)))


def _looked_like(text: str, words: set[str]) -> float:
    """What the code in a text weighs, up to what is enough to be sure."""
    total, there = 0.0, {sign for sign in _SIGNS if sign in text}
    for signs, near, pattern, weight in _CODE:
        if (not there.isdisjoint(signs) or not words.isdisjoint(near)) and pattern.search(text):
            total += weight
            if total >= _SURE:
                break
    return total


_KINDS = (
    (_DECIDES, _DECIDING_WORDS, _DECIDING_STEMS),
    (_AGAINST, _AGAINST_WORDS, _AGAINST_STEMS),
    (_MADE, _MADE_WORDS, _MADE_STEMS),
    (_ASKED, _ASKING_WORDS, _ASKING_STEMS),
    (_HINTS, _HINTING_WORDS, _HINTING_STEMS),
)


@lru_cache(maxsize=1 << 16)
def _weight(word: str) -> float:
    """What one word says."""
    stems = {word[:length] for length in range(_SHORTEST_STEM, min(len(word), _LONGEST_STEM) + 1)}
    for weight, words, beginnings in _KINDS:
        if word in words or not stems.isdisjoint(beginnings):
            return weight
    return 0.0
