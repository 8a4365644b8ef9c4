"""What servers and frameworks show where a page should be: lists of files, errors."""

import pytest

from devqa.web.cleaning.clean import clean_page

_OPTIONS = {
    "timeout_s": 20,
    "max_bytes": 1_500_000,
    "max_tags": 60_000,
    "min_characters": 200,
    "max_characters": 200_000,
}
_ARTICLE = (
    "A server answers each request with a status, and what it says is not always what a reader sees. This article goes "
    "through the cases one by one, with the configuration for each of them and what to look for in the log. "
)

_FILES = [f"archive-{number}.tar.gz" for number in range(60)]
_SERVED_LISTS = {
    "python": "<title>Directory listing for /</title><h1>Directory listing for /</h1><hr><ul>\n"
    + "".join(f'<li><a href="{file}">{file}</a></li>\n' for file in _FILES),
    "python, items not closed": "<title>Directory listing for /</title><ul>\n"
    + "".join(f'<li><a href="{file}">{file}</a>\n' for file in _FILES),
    "apache in pre": "<title>Index of /</title><h1>Index of /</h1><pre>Name          Last modified  Size <hr>"
    + "".join(f'<img src="/i.gif"> <a href="{file}">{file}</a>   2024-01-02 03:04  1.2M  \n' for file in _FILES),
    "apache in a table": "<title>Index of /</title><h1>Index of /</h1><table><tr><th>Name</th><th>Size</th></tr>"
    + "".join(
        f'<tr><td><a href="{file}">{file}</a></td><td align="right">2024-01-02 03:04  </td><td>1.2M</td></tr>'
        for file in _FILES
    ),
    "apache, names cut": '<title>Index of /my files/a</title><pre><a href="?C=N;O=D">Name</a>\n'
    + "".join(f'<a href="{file}">{file[:8]}..&gt;</a>\n' for file in _FILES),
    "lighttpd": '<title>Index of /pub/</title><table summary="Directory Listing"><tr><th>Name</th>'
    "<th>Last Modified</th></tr>"
    + "".join(
        f'<tr><td class="n"><a href="{file}">{file}</a></td><td>2024-Jan-02 03:04:05</td></tr>' for file in _FILES
    ),
    "iis": "<title>e.example - /pub/</title><H1>e.example - /pub/</H1><hr><pre>"
    + "".join(f' 1/2/2024  3:04 AM      1234 <A HREF="/pub/{file}">{file}</A><br>' for file in _FILES),
    "caddy": '<title>/pub/</title><div id="summary"></div><table aria-describedby="summary"><thead><tr><th></th><th>'
    '<a href="?sort=name&order=desc">Name</a></th></tr></thead>'
    + "".join(
        f'<tr class="file"><td><a href="./{file}"><span>{file}</span></a></td><td>1 MB</td></tr>' for file in _FILES
    ),
    "tomcat": "<title>Directory Listing For [/pub/]</title><h1>Directory Listing For [/pub/]</h1><table>"
    + "".join(f'<tr><td><a href="/pub/{file}"><tt>{file}</tt></a></td><td>1.0 kb</td></tr>' for file in _FILES[:10])
    + '<tr><td><a href="/">../</a></td></tr>',
}


@pytest.mark.parametrize("server", _SERVED_LISTS)
def test_lists_of_files_are_known_whichever_server_made_them(server):
    page = f"<!DOCTYPE html><html>{_SERVED_LISTS[server]}</html>".encode()
    cleaned = clean_page(page, "text/html", "https://e.example/", _OPTIONS)
    assert (cleaned.status, cleaned.reason.partition(":")[0]) == ("rejected", "directory listing")


def test_the_list_of_a_go_server_is_nothing_but_links():
    links = "".join(f'<a href="{file}">{file}</a>\n' for file in _FILES)
    head = '<!doctype html>\n<meta name="viewport" content="width=device-width">\n'
    page = clean_page(f"{head}<pre>\n{links}</pre>\n".encode(), "text/html", "", _OPTIONS)
    assert (page.status, page.reason) == ("rejected", "directory listing: by its markup")
    article = f"{head}<title>Parts</title><p>{_ARTICLE * 3}</p><pre>{links}</pre>"
    assert clean_page(article.encode(), "text/html", "", _OPTIONS).status == "ok"


_TRACE = "".join(f"&nbsp; &nbsp;at Layer.handle (/srv/app/node_modules/express/router.js:{n}:5)<br>" for n in range(20))
_ERROR_PAGES = {
    "php": "<title>500 Internal Server Error</title><br><b>Fatal error</b>:  Uncaught Exception: no in "
    "/var/www/html/index.php:12\nStack trace:\n#0 {main}\n thrown in <b>/var/www/html/index.php</b> on line <b>12</b>"
    + "<p>Please tell the administrator of this server what you did before it came to this.</p>",
    "express": f"<title>Error</title><pre>TypeError: x is no function<br> {_TRACE}</pre>",
    "django": "<title>OperationalError at /accounts/</title><pre>no such table</pre>"
    + '<table><tr><th>Request Method:</th><td>GET</td></tr></table><div id="traceback"><h2>Traceback</h2>'
    + "<pre>File /srv/a.py, line 1, in f</pre>" * 60
    + "</div>",
    "rails": "<title>Action Controller: Exception caught</title><h1>RuntimeError in X#index</h1>"
    + "<p>Extracted source (around line <b>#5</b>):</p>"
    + "<pre>def index\n  raise 'no'\nend</pre>" * 20,
    "tomcat": "<title>HTTP Status 500 – Internal Server Error</title><h1>HTTP Status 500 – Internal Server Error</h1>"
    "<hr><p><b>Type</b> Exception Report</p><p><b>Message</b> no</p><p><b>Exception</b></p><pre>java.lang.Error: no\n"
    + "\tat org.apache.catalina.core.Filter.doFilter(Filter.java:166)\n" * 60
    + "</pre>",
    "asp.net": "<title>Runtime Error</title><h1>Server Error in '/' Application.<hr></h1><h2><i>Runtime Error</i></h2>"
    "<b>Description: </b>An application error occurred on the server. The current custom error settings prevent the "
    f"details from being viewed.<pre>{'&lt;customErrors mode=Off/&gt;' * 20}</pre><p>{_ARTICLE * 6}</p>",
    "spring": "<h1>Whitelabel Error Page</h1><p>This application has no explicit mapping for /error, so you are seeing "
    f"this as a fallback.</p><div>There was an unexpected error</div><div>{'at a.B.c(B.java:1) ' * 90}</div>",
}


@pytest.mark.parametrize("framework", _ERROR_PAGES)
def test_errors_in_place_of_a_page_are_known_whatever_reports_them(framework):
    page = f"<!DOCTYPE html><html>{_ERROR_PAGES[framework]}</html>".encode()
    cleaned = clean_page(page, "text/html", "https://e.example/", _OPTIONS)
    assert (cleaned.status, cleaned.reason.partition(":")[0]) == ("rejected", "error report"), cleaned
