"""What an element of a page is for, as its tag, role, class and id say: content, a post, or furniture around them."""

import re

from lxml.html import HtmlElement

# Containers that well-known generators and forges put a page's content in.
_CONTAINERS = frozenset(
    (
        *("markdown-body", "mw-parser-output", "theme-doc-markdown", "rst-content", "vp-doc", "theme-default-content"),
        *("md-content__inner", "td-content", "main-page-content", "js-post-body", "refentry", "sect1", "manpage"),
    )
)
# What forums and sites of questions and answers put one post's text in: Stack Exchange, XenForo, phpBB, Discourse,
# vBulletin, Invision, Vanilla, MyBB, Flarum, Reddit, GitHub, Hacker News.
_POSTS = frozenset(
    (
        *("js-post-body", "bbWrapper", "cooked", "cPost_contentWrap", "post_body", "Post-body", "usertext-body"),
        *(
            "markdown-body",
            "commtext",
            "userContent",
            "postcontent",
            "post-content",
            "message-content",
            "messageContent",
        ),
    )
)
_POST_ID = re.compile(r"(?:post_message_|msg_|post_content|pid_)\d+")
_THREAD_TYPES = re.compile(r"schema\.org/(?:DiscussionForumPosting|Comment)\b")
# On pages of questions and answers, comments are beside the content.
_ANSWER_TYPES = re.compile(r"schema\.org/(?:Question|Answer)\b")
_CORE = (
    "nav|navbar|navigation|menu|sidebar|breadcrumbs?|crumbs|cookies?|cookie-?(?:bar|banner|consent|notice)|consent|gdpr|"
    "footer|foot|share|sharing|social|related|recommend(?:ed|ations?)|ads?|advert(?:isement)?|promo|newsletter|subscribe|"
    "pagination|pager|toc|skip-?link|login|signup|modal|popup|copyright|sponsors?|sphinxsidebar|headerlink|"
    "table-of-contents|edit-?(?:this-?)?page|edit-link|feedback|was-this-helpful|helpful|copy-?(?:btn|button)|clipboard|"
    "prev-?next|navheader|navfooter|anchor-link|hash-link|header-anchor|page-?actions|last-?(?:updated|modified)"
)
_BOILERPLATE = re.compile(
    rf"(?:(?:site|page|main|global|top|bottom|left|right|side|doc|docs|post|theme-doc)[-_])?(?:{_CORE})"
    r"(?:[-_](?:wrapper|container|links?|list|inner|box|bar|menu|area|nav|section|widget))?",
    re.IGNORECASE,
)
_COMMENTS = re.compile(
    r"comments|comments?[-_]?(?:list|area|section|wrapper|container|thread)|disqus_thread|respond", re.I
)
# Words in names of what accompanies content. They name content as well, so they silence goose3 and remove nothing.
_ACCOMPANIES = re.compile(
    r"(?:^|[-_\s])(?:comments?|respond|disqus|votes?|voting|users?|authors?|bio|byline|meta|metadata|signatures?|"
    r"reactions?|tags?|timestamp|dateline|profile|avatar|badges?|reputation|postprofile|related|widget|menu|caption|"
    r"photos?|image|gallery|slide(?:r|show)|ads?|adverts?|advertisement|sponsored|promo|newsletter|subscribe|share|"
    r"social|actions?|toolbar|buttons?|controls?|feedback|rating|stats|info)"
    r"(?:$|[-_\s])",
    re.IGNORECASE,
)
_SECTIONS = frozenset(("section", "chapter", "sect1", "sect2"))
_NEVER = frozenset(("html", "body", "main", "article", "section", "pre", "code"))
_TAGS = frozenset(("nav", "footer", "form", "button", "select", "dialog"))
_TAGS_OUTSIDE_CONTENT = frozenset(("aside", "header"))
_CAPTIONS = frozenset(("figure", "figcaption"))
_ROLES = frozenset(("navigation", "banner", "contentinfo", "dialog", "search", "alertdialog"))
# A name must not cost the page: what holds more of its text than this is no boilerplate, whatever it is called. Where
# little of it is links, it is soon too much for that.
_MOST_TEXT = 0.4
_MOST_PROSE = 0.15
_MOST_PROSE_LINKS = 0.3
_MOST_LINKS = 0.7
_LEAST_POSTS = 2
_LEAST_POST_SHARE = 0.25


def is_container(element: HtmlElement) -> bool:
    """Does a generator or forge put a page's content into such an element?"""
    return isinstance(element.tag, str) and (
        element.tag == "main"
        or element.get("role") == "main"
        or element.get("itemprop") == "articleBody"
        or not _CONTAINERS.isdisjoint(element.get("class", "").split())
    )


def is_boilerplate(element: HtmlElement) -> bool:
    """Is it navigation, a banner, an advertisement and the like, by its tag, its role or a whole class name or id?"""
    if not isinstance(element.tag, str) or element.tag in _NEVER:
        return False
    if element.tag in _TAGS or element.get("role") in _ROLES:
        return True
    if element.tag in _TAGS_OUTSIDE_CONTENT and next(element.iterancestors("main", "article"), None) is None:
        return True
    names = [*element.get("class", "").split(), element.get("id", "")]
    return any(_BOILERPLATE.fullmatch(name) for name in names)


def _is_comments(element: HtmlElement) -> bool:
    """Does it hold what readers say below an article? Manuals give the id `comments` to chapters about comments."""
    return element.tag in ("div", "section", "ol", "ul") and any(
        map(_COMMENTS.fullmatch, element.get("class", "").split())
    )


def _is_box(element: HtmlElement) -> bool:
    """Is it a box in the text, which DocBook calls a sidebar?"""
    return "sidebar" in element.get("class", "").split() and any(
        ancestor.tag in ("section", "article") or not _SECTIONS.isdisjoint(ancestor.get("class", "").split())
        for ancestor in element.iterancestors()
    )


def remove_boilerplate(document: HtmlElement) -> None:
    """Drop what `is_boilerplate`, unless it holds too much of the page's text for that."""
    lengths, linked = text_lengths(document)
    most = _MOST_TEXT * lengths[document]
    most_prose = _MOST_PROSE * lengths[document]
    is_thread = bool(posts(document))
    gone: set[HtmlElement] = set()
    for element in list(document.iterdescendants()):
        if element.getparent() in gone:
            gone.add(element)
        elif not is_thread and _is_comments(element) and lengths[element] <= most:
            gone.add(element)
            element.drop_tree()
        elif is_boilerplate(element):
            length = lengths[element]
            is_prose = length > most_prose or _is_box(element)
            is_prose = is_prose and linked[element] < _MOST_PROSE_LINKS * length
            if length <= most and not (is_prose and element.tag not in _TAGS):
                gone.add(element)
                element.drop_tree()


def accompanying(document: HtmlElement, posts: set[HtmlElement]) -> set[HtmlElement]:
    """What is beside the content: in elements named for comments, votes, authors, tags …, captions, lists of links.

    An element that holds one of `posts` is none of it, whatever its name.
    """
    lengths, linked = text_lengths(document)
    most = _MOST_TEXT * lengths[document]
    spared = {ancestor for post in posts for ancestor in post.iterancestors() if ancestor not in posts}
    found: set[HtmlElement] = set()
    for element in document.iterdescendants():
        if element.getparent() in found:
            found.add(element)
        elif isinstance(element.tag, str) and element.tag not in _NEVER and lengths[element] <= most:
            if element in spared or (element in posts and element.getparent() not in posts):
                continue
            names = f"{element.get('class', '')} {element.get('id', '')}"
            if element.tag in _CAPTIONS or _ACCOMPANIES.search(names) or _is_links(element, lengths, linked):
                found.add(element)
    return found


def _is_links(element: HtmlElement, lengths: dict[HtmlElement, int], linked: dict[HtmlElement, int]) -> bool:
    return element.tag in ("div", "ul", "ol") and 0 < _MOST_LINKS * lengths[element] < linked[element]


def posts(document: HtmlElement) -> set[HtmlElement]:
    """The elements that hold the texts of a thread's posts or of a question and its answers; none on other pages."""
    found: set[HtmlElement] = set()
    outermost = []
    answers = any(_ANSWER_TYPES.search(kind) for kind in document.xpath("//@itemtype"))
    types = _ANSWER_TYPES if answers else _THREAD_TYPES
    for element in document.iterdescendants():
        if element.getparent() in found:
            found.add(element)
        elif isinstance(element.tag, str) and _is_post(element, types):
            found.add(element)
            outermost.append(element)
    lengths, _ = text_lengths(document)
    total = sum(lengths[element] for element in outermost)
    return found if len(outermost) >= _LEAST_POSTS and total >= _LEAST_POST_SHARE * lengths[document] else set()


def _is_post(element: HtmlElement, types: re.Pattern[str]) -> bool:
    if not _POSTS.isdisjoint(element.get("class", "").split()) or _POST_ID.fullmatch(element.get("id", "")):
        return True
    if element.get("itemprop") == "text":
        kind = next(
            (ancestor.get("itemtype") for ancestor in element.iterancestors() if "itemtype" in ancestor.attrib), ""
        )
        return bool(types.search(kind))
    return element.get("data-role") == "commentContent"


def text_lengths(document: HtmlElement) -> tuple[dict[HtmlElement, int], dict[HtmlElement, int]]:
    """How many characters of text each element holds, and how many of them are in links."""
    lengths: dict[HtmlElement, int] = {}
    linked: dict[HtmlElement, int] = {}
    for element in reversed(list(document.iter())):
        children = list(element)
        own = len((element.text or "").strip()) if isinstance(element.tag, str) else 0
        length = own + sum(lengths[child] + len((child.tail or "").strip()) for child in children)
        lengths[element] = length
        linked[element] = length if element.tag == "a" else sum(linked[child] for child in children)
    return lengths, linked
