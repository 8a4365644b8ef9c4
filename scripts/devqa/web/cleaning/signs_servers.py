"""What servers show where no page of theirs is: lists of files, errors, what nobody has set up; in three languages.

Each block holds one sign a line, as in devqa.web.cleaning.signs_blanks.
"""

# Kind, place, and up to how many characters of main text the sign counts alone (0: only together with another).
SIGNS = (
    (
        "server's default page",
        "title",
        4_000,
        r"""
        welcome to (?:nginx|openresty)(?: on .{1,30})?
        apache2? (?:\w+ )?default page(?:: it works)?
        iis windows(?: server)?
        test page for the (?:nginx|apache) http server(?: on .{1,40})?
        (?:http server|powered by .{1,30}|centos|fedora|red hat)(?: linux)? test page
        caddy works
        default (?:web site|plesk|parallels plesk) page
        apache tomcat/[\d.]+
        欢迎使用 ?nginx
        恭喜，?站点创建成功
        没有找到站点
        добро пожаловать в nginx
        """,
    ),
    ("server's default page", "title", 150, "it works"),
    (
        "server's default page",
        "text",
        500,
        r"""
        if you see this page, the (?:nginx|openresty) web server is successfully installed
        this is the default (?:welcome page|web page for this server|web site page)
        this page is used to test the proper operation of the
        the web server software is running but no content has been added
        if you're seeing this, you've successfully installed tomcat
        恭喜，? ?站点创建成功
        您的请求在web服务器中没有找到对应的站点
        если вы видите эту страницу, (?:значит )?(?:веб-)?сервер
        """,
    ),
    (
        "server error",
        "title",
        200,
        r"""
        (?:http )?(?:error )?50[0234][ :-]*(?:internal server error|bad gateway|service unavailable|gateway time-?out)?
        internal server error
        server error \(5\d\d\)
        application error
        an error occurred: internal server error
        error occurred while processing request
        bad gateway
        service (?:temporarily )?unavailable
        gateway time-?out
        (?:error establishing a )?database (?:connection|error)
        (?:(?:we're )?sorry, (?:but )?)?something went wrong(?: \(500\))?
        (?:服务器)(?:内部)?错误
        服务器开小差了?
        系统(?:错误|繁忙)
        (?:внутренняя )?ошибка сервера
        сервис временно недоступен
        """,
    ),
    (
        "server error",
        "text",
        200,
        r"""
        (?:looks like )?something went (?:seriously )?wrong[.,]? (?:wait|please|try|we|if)
        looks like something went wrong[.!]?$
        (?:an? )?(?:unexpected |internal |server |unknown )+error (?:has )?occurred
        error establishing a database connection
        the server (?:encountered an internal error|is temporarily unable)
        there is a problem with the resource you are looking for, and it cannot be displayed
        the server returned a "5\d\d
        服务器(?:开小差|内部错误|繁忙|出错)
        系统(?:繁忙|错误|异常)，?请稍后
        (?:произошла|внутренняя) (?:\w+ )?ошибка(?: сервера)?[.,!] (?:попробуйте|повторите|обновите|мы)
        сервис временно недоступен
        """,
    ),
    (
        "server error",
        "text",
        500,
        r"""
        application error: a (?:client|server)-side exception has occurred
        an error occurred in the application and your page could not be served
        there has been a critical error on (?:this|your) website
        the server encountered an internal error (?:or misconfiguration )?and was unable to complete
        this application has no explicit mapping for /error
        на сайте (?:возникла|произошла) критическая ошибка
        此站点(?:遇到了|发生了|出现)?(?:致命|严重)错误
        """,
    ),
    # What programs and frameworks print where their page should be: PHP, Python, Java, .NET, Ruby, JavaScript.
    (
        "error report",
        "title",
        0,
        r"""
        (?:http )?(?:status |error )?(?:code )?5\d\d[ :-]*(?:(?:internal )?server error)?
        (?:internal )?server error(?: \(5\d\d\))?
        (?:(?:an? )?{sort of} )*(?:error|exception)(?: occurred)?
        server error in '/\S*' application
        whitelabel error page
        action controller: exception caught
        (?:[\w.]+(?:error|exception|doesnotexist|warning)|http404) at /\S*
        whoops.{0,50}
        ошибка(?: сервера)?
        (?:服务器|系统|程序)?(?:内部)?(?:错误|异常)
        """,
    ),
    ("error report", "title", 20_000, r".{1,300} // werkzeug debugger"),
    # Who asks about an error says something first.
    (
        "error report",
        "text",
        0,
        r"""
        {no prose}(?:php )?(?:fatal|parse|recoverable fatal) error: \S
        {no prose}(?:php )?(?:uncaught|unhandled) (?:[\w.\\]+)?(?:error|exception)\b
        {no prose}traceback \(most recent call last\)
        {no prose}stack ?trace:
        {no prose}(?:type )?\W{0,4}(?:exception|status) report\b
        {no prose}this application has no explicit mapping for /error
        {no prose}(?:description:\W{1,9})?an (?:unhandled exception|application error) occurred (?:during|on)
        {no prose}[\w.]*(?:error|exception): .{0,300}\s+at \S.{0,200}(?::\d+:\d+|\.java:\d+|\.cs:line \d+)
        """,
    ),
    # From the first word to the last: who asks about an error says more.
    (
        "error report",
        "text",
        2_500,
        r"""
        {no prose}(?:php )?(?:fatal|parse|recoverable fatal) error: [^?]{0,2000}{php place}[\s.`]*\Z
        """,
    ),
    (
        "error report",
        "markup",
        0,
        r"""
        extracted source \(around line
        <div id="(?:pastebin)?traceback\b
        because you have\s{1,20}<code>debug = true</code>\s{1,20}in\s{1,20}your\s{1,20}django
        <pre>\s{0,20}[\w.]*(?:error|exception)(?:: [^<>]{0,500})?(?:<br ?/?>|\s|&nbsp;){1,20}at [^<>]{1,300}[:(]
        <b>(?:version information|информация о версии|版本信息):</b>(?:&nbsp;|\s){0,9}microsoft \.net framework
        """,
    ),
    (
        "directory listing",
        "title",
        300,
        r"""
        index of /(?:\S.{0,150}/)?\S*
        (?:directory|folder|file) listing(?: for| of|:)? \[?/(?:\S.{0,150}/)?\S*
        / ?的索引
        (?:содержимое|список файлов) (?:каталога |папки |директории )?/\S*
        """,
    ),
    (
        "directory listing",
        "title",
        0,
        r"""
        (?:directory: |listing directory |files within |contents of )/?(?:\S.{0,150}/)?\S*
        [\w.-]{1,100}(?::\d{1,5})? - /(?:\S.{0,150}/)?\S*
        """,
    ),
    (
        "directory listing",
        "text",
        0,
        r"""
        \[?(?:to )?parent directory\b
        name\W+(?:last |date )?modified\b
        \.\./
        """,
    ),
    (
        "directory listing",
        "markup",
        0,
        r"""
        >\s*(?:parent directory|\[to parent directory\]|\.\./?)\s*</a>
        <a href="\?c=[nmsd](?:;|&amp;|&)o=[ad]
        <table [^<>]{0,100}summary="directory listing"
        <li>\s{0,9}<a href="[^"<>]{1,200}">[^<>]{1,200}</a>\s{0,9}(?:</li>)?\s{0,20}<li>\s{0,9}<a href="
        </a>(?:\s|&nbsp;|</?td[^<>]{0,100}>){1,60}(?:\d{4}-\d\d-\d\d|\d\d?-[a-z]{3}-\d{4})\b
        \d\d?:\d\d [ap]m\s{1,20}(?:&lt;dir&gt;|\d+)\s{1,20}<a href="
        (?:{a file}(?:[^<]|<(?!a\s)){0,300}){3}
        """,
    ),
    # Caddy calls a list by its folder alone, Go's file server not at all.
    (
        "directory listing",
        "markup",
        200_000,
        r"""
        <table aria-describedby="summary">(?:[^<]|<(?!/?table)){0,6000}<tr class="file"
        \A\s*(?:<!doctype html>\s*)?(?:<meta [^<>]{1,100}>\s*)?<pre>\s*(?:{a link}\s*){2}
        """,
    ),
)
