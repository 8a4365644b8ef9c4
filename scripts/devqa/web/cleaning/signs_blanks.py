"""What pages say where nothing is: soft 404s, parked domains, empty applications; in three languages.

Each block holds one sign a line: a regular expression on text in lower case with plain quotes, е for ё and single
spaces. Signs of place `title` are a whole part of a title or a heading; those of `text` begin a sentence of the main
text, perhaps after a word of politeness; those of `markup` stand anywhere in the HTML. What stands for {site}, {page} …
is in devqa.web.cleaning.quality.
"""

# Kind, place, and up to how many characters of main text the sign counts alone (0: only together with another).
SIGNS = (
    (
        "page not found",
        "title",
        200,
        r"""
        (?:http )?(?:error )?404(?: error)?
        (?:(?:http )?(?:error )?404[ :,-]*)?(?:\(not found\)!!1|(?:{page} )?(?:was |is |could )?not (?:be )?found)
        (?:the |this |that )?{page} (?:can't be found|doesn't exist|does not exist|isn't available|is gone)
        (?:{page}|site) (?:missing|gone|removed|unavailable|error)
        (?:this|that) {page} could not be found
        oops.{0,20}
        nothing (?:was )?found(?: here)?
        410 gone
        404.{0,6}(?:页面|错误|未找到)
        (?:抱歉|对不起)?，?(?:您|你)?(?:访问|请求|要找|查找|查看)?的?{yemian}(?:不存在|未找到|找不到了?|没有找到|已?被?删除|不见了)
        (?:找不到|无法找到)(?:该|此)?{yemian}
        出错啦?
        (?:ошибка )?404(?: ошибка)?
        (?:(?:ошибка )?404[ -]*)?{pagina} (?:не (?:найден|существует|обнаружен)|удален|недоступн)[аоы]?
        не найдено
        такой страницы (?:не существует|нет)
        """,
    ),
    (
        "page not found",
        "text",
        300,
        r"""
        {the page} (?:could not|cannot|can not|can't|couldn't|was not|wasn't|not) (?:be )?found
        {the page} (?:does not exist|doesn't exist|no longer exists?|is gone|has gone)
        {the page} (?:(?:has|have|was) (?:been )?(?:removed|deleted)|(?:may|might) have been)
        {the page} (?:isn't|is not|is no longer) available
        we (?:can't|cannot|couldn't|could not|were unable to|didn't) (?:seem to )?find (?:the|that|this|what|a)\b
        it (?:looks like|seems|appears)(?: that)? (?:nothing was found|{the page}|we can't find|you've followed)
        the requested url .{0,200}was not found on this server
        there is currently no text in this page
        (?:404[ .,:-]+)?(?:page|file) not found\b
        404\. that's an error
        there isn't a github pages site here
        nothing (?:was )?found here
        (?:您|你|当前|所|访问|请求|要|找|查找|查看|浏览|的|该|此|这个)*{yemian}(?:可能|已经?)*(?:不存在|未找到|找不到|没有?找到|被?删除|不见了|丢失|失效)
        我?们?(?:找不到|没有找到|无法找到|未能找到)(?:您|你|要|所|想|访问|请求|找|查找|查看|的)*{yemian}
        页面(?:飞走|跑丢|走失|走丢)
        {the pagina} (?:не (?:найден|существует|обнаружен)|больше не существует|отсутствует)
        {the pagina} (?:удален|перемещен|переименован|недоступн)
        мы не (?:смогли|можем) найти
        такой страницы (?:не существует|нет|не найдено)
        """,
    ),
    (
        "parked domain",
        "title",
        2_000,
        r"""
        (?:the domain )?{site} (?:is|may be|might be) for sale.{0,30}
        {site} (?:domain )?(?:is )?parked.{0,30}
        buy {site}.{0,30}
        this domain (?:name )?is (?:for sale|parked|available).{0,30}
        domain (?:name )?for sale
        parked domain(?: name)?(?: on .*)?
        (?:{site} ?)?(?:该|此|本)?域名(?:正在|正)?(?:出售|转让|停放)中?
        {site}.{0,6}(?:出售|转让)
        (?:домен )?(?:{site} )?(?:продается|выставлен на продажу|припаркован)(?: .{0,30})?
        """,
    ),
    (
        "parked domain",
        "text",
        1_000,
        r"""
        (?:this|the) (?:web ?site |premium )?domain(?: name)?(?: {site})? (?:is|may be|might be) (?:for sale|parked)
        {site} (?:is|may be) for sale
        buy this domain
        interested in (?:buying )?this domain
        make an offer on this domain
        inquire about this domain
        this domain (?:is|has been|was) (?:recently )?(?:registered|parked) (?:at|by|free|with|courtesy)
        this (?:web ?page|domain|site) is parked
        the owner of this domain (?:has not|is offering)
        this domain (?:has|is) expired
        (?:您|你|正在|所|访问|的)*(?:该|此|本|这个)?域名\S{0,40}?(?:正在|可以?|已)(?:出售|转让|停放|到期|过期)
        (?:点击)?购买(?:该|此|这个)域名
        (?:этот |данный )?домен (?:\S{3,60} )?(?:продается|выставлен на продажу|припаркован|зарегистрирован)
        купить (?:этот )?домен
        """,
    ),
    (
        "empty application",
        "text",
        300,
        r"""
        (?:you (?:need|have) to )?(?:enable|turn on|activate) javascript (?:to|in (?:your|order)|and|on)\b
        (?:\S+|this \w+) (?:requires|needs|doesn't work(?: properly)? without|won't work without) javascript
        we're sorry but .{1,60} doesn't work properly without javascript
        javascript (?:is|must be|has to be|needs to be) (?:required|disabled|enabled|not (?:available|enabled))
        your browser (?:does not|doesn't) support javascript
        (?:您|你)?(?:需要|必须)?(?:先|在浏览器中)*(?:启用|开启|打开|允许) ?javascript
        (?:您|你)的浏览器(?:不支持|未启用|已禁用) ?javascript
        正在加载中?[.…。]*$
        (?:вам )?(?:необходимо |нужно )?включи(?:те|ть) (?:поддержку )?javascript
        (?:для работы|сайт|приложение)[^.]{0,40}(?:требу|необходим|не работает без)[^.]{0,20}javascript
        в вашем браузере (?:отключен|не включен) javascript
        """,
    ),
    (
        "empty application",
        "markup",
        10,
        r"""
        <noscript[^<>]{0,100}>\s*(?:<[^<>]{1,200}>\s*){0,3}[^<>]{0,120}javascript
        <(?:div|main)\s[^<>]{0,100}id=["']?(?:root|app|__next|__nuxt|___gatsby|q-app|svelte|mount)\b[^<>]{0,100}>\s*</
        <(?:app-root|my-app|ion-app)[^<>]{0,100}>\s*</
        """,
    ),
    (
        "maintenance",
        "title",
        200,
        r"""
        (?:site|website|system|scheduled|planned|server|down for|under|currently under)? ?maintenance(?: mode| page)?
        (?:we'll be (?:right )?|be right )back(?: soon| shortly)?
        (?:site )?temporarily (?:unavailable|offline|down)
        coming soon
        under construction
        (?:网站|系统|站点|服务器)(?:正在)?(?:维护|升级|建设)(?:中|公告|通知)?
        (?:на сайте )?(?:ведутся |идут |проводятся )?(?:технические|профилактические) работы
        сайт (?:на (?:реконструкции|обслуживании)|временно недоступен|в разработке)
        скоро вернемся
        """,
    ),
    (
        "maintenance",
        "text",
        300,
        r"""
        we(?: are|'re) (?:currently |temporarily )?(?:down for|undergoing|performing|doing) (?:\w+ ){0,2}maintenance
        (?:the|this|our) \w+ is (?:currently |temporarily )?(?:down for|under|undergoing) (?:\w+ ){0,2}maintenance
        {site} is (?:currently |temporarily )?(?:down for|under|undergoing) (?:\w+ ){0,2}maintenance
        (?:the|this|our) (?:site|website|service) is (?:currently|temporarily) (?:unavailable|offline|down)
        we'll be back (?:soon|shortly|online)
        (?:this|our) (?:site|website) is (?:coming soon|under construction)
        (?:尊敬的用户[，：])?(?:本|我们的?)?(?:网站|系统|站点|服务器|服务|页面)(?:目前|当前)?正在(?:进行|系统|例行)*(?:维护|升级|建设)
        (?:в настоящее время |сейчас )?(?:на сайте )?(?:ведутся|идут|проводятся) (?:\w+ )?технические работы
        сайт временно (?:недоступен|не работает|закрыт|отключен)
        сайт находится (?:на (?:реконструкции|обслуживании)|в разработке)
        """,
    ),
    (
        "unsupported browser",
        "title",
        200,
        r"""
        (?:unsupported|outdated) browser
        browser (?:not supported|upgrade required)
        浏览器(?:不支持|版本过低)
        (?:ваш )?браузер (?:устарел|не поддерживается)
        """,
    ),
    (
        "unsupported browser",
        "text",
        250,
        r"""
        (?:this|your) (?:web )?browser (?:is (?:no longer|not|out of date|outdated|unsupported)|isn't supported)
        this version of (?:this|your) browser is not supported
        (?:upgrade|update) your browser
        您的浏览器(?:版本)?(?:过低|太旧|不受支持|不支持)
        ваш браузер (?:устарел|не поддерживается)
        """,
    ),
    (
        "redirection",
        "title",
        200,
        r"""
        (?:page )?redirect(?:ing|ion)?
        (?:the|this) page has (?:been )?moved
        (?:正在)?(?:跳转|重定向)中?
        (?:перенаправление|переадресация)
        """,
    ),
    (
        "redirection",
        "text",
        200,
        r"""
        (?:the|this) (?:page|document|site|article) (?:has|was) (?:been )?moved
        if you(?: are|'re) not (?:being )?(?:automatically )?redirected
        (?:you(?: are|'re) being |you will be )redirected
        (?:页面)?(?:正在|即将)(?:为您)?(?:跳转|重定向)
        если (?:вас не|перенаправление не)
        """,
    ),
)
