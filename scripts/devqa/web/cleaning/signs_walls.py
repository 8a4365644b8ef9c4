"""What pages say that stand before a page: bot checks, log-ins, consent; in English, Chinese and Russian.

Each block holds one sign a line: a regular expression on text in lower case with plain quotes, е for ё and single
spaces. Signs of place `title` are a whole part of a title or a heading; those of `text` begin a sentence of the main
text, perhaps after a word of politeness; those of `markup` stand anywhere in the HTML. What stands for {site}, {page} …
is in devqa.web.cleaning.quality.
"""

# Kind, place, and up to how many characters of main text the sign counts alone (0: only together with another).
SIGNS = (
    # Cloudflare, Akamai, DataDome, PerimeterX, Imperva, Anubis, Vercel, DDoS-Guard; Baidu, Yandex.
    (
        "bot check",
        "title",
        800,
        r"""
        just a moment
        attention required
        pardon our interruption
        robot or human
        are you (?:a )?(?:human|robot)
        (?:please )?verify(?:ing)?(?: that)? you are (?:a )?human
        human verification(?: required)?
        bot verification
        making sure you're not a bot
        (?:vercel )?security checkpoint
        client challenge
        ddos-guard
        checking your browser(?: before accessing.*)?
        access to this page has been denied
        (?:sorry, )?you have been blocked
        百度安全验证
        (?:人机|安全|访问)验证
        请稍候
        验证您是否是真人
        滑动验证页面
        вы не робот
        (?:проверка|проверяем) (?:вашего |ваш )?браузера?
        подтвердите, что вы не робот
        """,
    ),
    (
        "bot check",
        "title",
        200,
        r"""
        one moment
        access denied
        security (?:check|verification)
        captcha
        (?:请输入)?验证码
        访问被拒绝
        один момент
        ой
        доступ (?:запрещен|ограничен)
        проверка безопасности
        капча
        """,
    ),
    (
        "bot check",
        "text",
        500,
        r"""
        (?:verify|confirm|prove|check)(?:ing)?(?: that)? you(?: are|'re) (?:a )?(?:human|not a (?:robot|bot))
        enable javascript and cookies to continue
        complete the (?:security check|captcha)
        {site} needs to review the security of your connection
        checking (?:your browser before|if the site connection is secure)
        (?:press|click) (?:and|&) hold to confirm
        access to this page has been denied because
        you don't have permission to access "?\S+ on this server
        as you were browsing something about your browser made us think
        you have been blocked
        making sure you're not a bot
        you are seeing this because the administrator of this website has set up anubis
        we need to make sure (?:that )?you(?: are|'re) not a robot
        request unsuccessful\. incapsula incident
        this process is automatic\. your browser will redirect
        to continue, please (?:complete|solve) the captcha
        完成(?:下方|下列|以下|安全|人机|的|操作|，)*验证
        (?:正在)?(?:验证|确认|检查)您(?:的浏览器|是否?(?:是|为)?(?:真人|机器人))
        (?:按住|拖动|向右滑动)(?:左边|下方|的)*(?:按钮|滑块)
        输入(?:图片|图中|下方|下图|中|的)*(?:验证码|字符)
        网络不给力，请稍后重试
        您的(?:访问|网络环境|请求)(?:出现|存在)异常
        启用 ?javascript ?和 ?cookie
        (?:系统)?检测到(?:您的|异常)(?:访问|流量|请求|网络)
        подтвердите, что (?:вы не робот|вы человек|запросы отправляли вы)
        (?:проверяем|убедитесь), (?:что )?вы (?:не робот|человек)
        (?:проверка|проверяем) (?:вашего |ваш )?браузера?
        включите javascript и (?:файлы )?cookie
        запросы с вашего устройства похожи на автоматические
        (?:введите|пройдите) (?:капчу|проверку|символы с картинки)
        """,
    ),
    (
        "bot check",
        "markup",
        500,
        r"""
        window\._cf_chl_opt
        cf-challenge-running
        geo\.captcha-delivery\.com
        id=["']?px-captcha
        anubis_challenge
        /\.within\.website/x/
        _incapsula_resource\?cwudnsai
        gokuprops\s*=
        sucuri_cloudproxy_js
        """,
    ),
    # Ordinary pages of Cloudflare's customers have it too.
    ("bot check", "markup", 50, r"/cdn-cgi/challenge-platform/"),
    (
        "rate limit",
        "title",
        200,
        r"""
        (?:http )?(?:error )?429(?: error)?(?: too many requests)?
        too many requests
        rate limit(?:ed| exceeded)?
        (?:访问|请求|操作)(?:过于|太)?频繁
        请求(?:次数)?过多
        слишком много запросов
        """,
    ),
    (
        "rate limit",
        "text",
        1_200,
        r"""
        our systems have detected unusual traffic from your computer network
        this ip is only allowed to access our site
        we've detected unusual activity from your
        """,
    ),
    (
        "rate limit",
        "text",
        300,
        r"""
        (?:http )?(?:error )?429:? too many requests
        too many requests(?:[.!,]|$| from)
        you(?: have|'ve) (?:exceeded|reached|hit) (?:the|your|a) (?:\w+ )?(?:rate|request) limit
        (?:api )?rate limit exceeded
        you(?: have|'ve) sent too many requests
        we have (?:received|detected) too many requests
        you(?: are|'re) being rate limited
        (?:您的?|你的?)?(?:访问|请求|操作)(?:过于|太|次数过)(?:频繁|多|快)
        (?:вы (?:отправили|сделали) )?слишком много запросов
        """,
    ),
    (
        "login wall",
        "title",
        0,
        r"""
        (?:please )?(?:sign|log)[ -]?in(?: (?:to|with|or|required|page)\b.*)?
        .{1,40} login, sign in
        (?:login|authentication) required
        members only
        (?:join|create) .{1,30} account
        (?:用户|账号|帐号|会员|请先?|欢迎)?登[录陆](?:[/或 ]?注册)?.{0,6}
        (?:вход|войти|авторизация)(?: .{1,40})?
        требуется (?:вход|авторизация)
        """,
    ),
    (
        "login wall",
        "text",
        300,
        r"""
        (?:sign|log)[ -]?in (?:or (?:sign up|register|create an account) )?to (?:continue|view|read|access|see)\b
        (?:sign|log)[ -]?in to your (?:\w+ )?account to (?:continue|view|read|access|see|get|proceed)\b
        (?:sign|log)[ -]?in to your (?:\w+ )?account\W*$
        you (?:must|need to|have to) (?:be (?:logged|signed) in|log ?in|sign in)\b
        (?:a )?login (?:is )?required
        this (?:page|content|site|group|forum) (?:is|requires) .{0,40}(?:(?:logged|signed)[ -]in|a login|to log in)
        create your account and connect with a world of communities
        you are not logged in\b
        join (?:now )?to (?:view|see|continue)
        agree & join linkedin
        (?:您|你)?(?:需要|必须)?(?:先)?登[录陆](?:后|之后|账号|帐号)?(?:才|再|可|即可|可以|能)*(?:查看|阅读|访问|继续|浏览|使用)
        (?:您|你)(?:尚未|还没有|还未|没有|需要先?|必须先?)登[录陆]
        扫码登[录陆]
        (?:войдите|авторизуйтесь|зарегистрируйтесь)(?: [\w ]{1,30})?, (?:чтобы|для того)
        (?:вам |вы )?(?:необходимо|нужно|должны|требуется) (?:войти|авториз\w+|зарегистрироваться)
        для (?:просмотра|доступа|продолжения)[^.]{0,60} (?:необходимо|нужно|требуется|войдите|авторизуйтесь)
        (?:доступн\w+|вид\w+) только (?:для )?(?:зарегистрированн|авторизованн)
        """,
    ),
    # What the fields of a form are called, one after the other.
    (
        "login wall",
        "text",
        600,
        r"""
        {email}\W{1,9}password\W{1,9}{between}{forgotten}
        {账号}\W{1,9}密码\W{1,9}(?:登[录陆]\W{1,9})?(?:记住(?:我|密码|登录)|忘记密码|(?:下次)?自动登[录陆]|找回密码|注册)
        {почта}\W{1,9}пароль\W{1,9}{between}(?:запомнить|забыли|не помню|восстановить|чужой компьютер)
        """,
    ),
    # Without a word on what is forgotten they may be a table of parameters.
    (
        "login wall",
        "text",
        0,
        r"""
        {email}[\s:*]{1,9}password\b
        {账号}[\s:：*]{1,9}密码\b
        {почта}[\s:*]{1,9}пароль\b
        (?:sign|log)[ -]?in with (?:your )?(?:google|github|gitlab|microsoft|apple|facebook|sso|e-?mail)\W*$
        (?:don't have an account|new to \w+)\?
        (?:еще )?нет (?:аккаунта|учетной записи)\?
        (?:войдите|вход|войти) в (?:свой |свою |ваш |вашу )?(?:аккаунт|учетную запись|личный кабинет)\W*$
        (?:还没有|没有)(?:账号|帐号)[？?]
        """,
    ),
    ("login wall", "markup", 0, r"""<input[^<>]{0,200}type=["']?password"""),
    (
        "consent wall",
        "title",
        1_500,
        r"""
        before you continue(?: to .{1,30})?
        (?:cookie )?consent required
        继续(?:前往|使用)? ?(?:google|youtube).{0,6}之?前.{0,10}
        прежде чем перейти .{1,30}
        """,
    ),
    (
        "consent wall",
        "text",
        1_500,
        r"""
        before you continue to (?:google|youtube)
        yahoo is part of the yahoo family of brands
        """,
    ),
    (
        "consent wall",
        "text",
        250,
        r"""
        (?:you (?:must|need to) )?(?:accept|allow|enable) (?:all |our |the use of )*cookies (?:to|in order to)\b
        (?:your )?cookies are (?:required|disabled|not enabled|blocked)
        we (?:value your privacy|use cookies)\b
        this (?:site|website) uses cookies\b
        (?:接受|同意|启用|允许)(?:使用)? ?cookies?(?:后|才能|以|，|。)
        本(?:网站|网页|站)使用 ?cookies?
        (?:примите|разрешите|включите) (?:использование )?(?:файл(?:ы|ов) )?(?:cookies?|куки)
        (?:мы используем|(?:этот|наш) сайт использует) (?:файлы )?(?:cookies?|куки)
        """,
    ),
    (
        "paywall",
        "text",
        500,
        r"""
        (?:subscribe|upgrade|become a (?:paid )?(?:member|subscriber)) to (?:continue|keep|finish|unlock|read|access)\b
        this (?:article|content|post|story) is [^.]{0,30}(?:for|to) (?:paid |paying |our )*(?:subscribers|members)
        you(?: have|'ve) (?:reached|used|read) [^.]{0,40}free (?:articles|stories)
        (?:you need|get) a subscription to (?:read|continue|access)
        the author made this story available to medium members only
        (?:本文|本内容|该内容|此内容)(?:为|是|仅限|仅供)?.{0,6}(?:付费|会员|vip|订阅)(?:专享|可见|内容|文章|阅读|可读|专栏|者)
        (?:开通|购买|订阅)(?:会员|专栏|vip).{0,6}(?:继续|查看|解锁|阅读)
        (?:оформите|купите) подписку
        (?:эта |этот )?(?:статья|материал|контент) доступ\w+ (?:только )?(?:по подписке|(?:для )?подписчик)
        чтобы (?:прочитать|дочитать|читать)[^.]{0,40}подпи(?:шитесь|ску)
        """,
    ),
)
