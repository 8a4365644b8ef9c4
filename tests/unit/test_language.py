from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa import language

SIMPLE_DEVQA = Path(__file__).parents[3] / "shared/data/simpledevqa/benchmark.parquet"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How do I undo the last commit?", "en"),
        ("fix this", "en"),
        ("PLEASE FIX MY CODE NOW", "en"),
        ("Translate 你好 into English, please", "en"),
        ("git怎么撤销commit？", "zh"),
        ("在C++中，std::unordered_map 的 reserve() 方法有什么作用？", "zh"),
        ("日本語", "zh"),  # no kana: nothing tells it from Chinese
        ("Dockerファイルの書き方", "ja"),
        ("파이썬", "ko"),
        ("Привет", "ru"),
        ("Что делает git rebase --interactive?", "ru"),
        ("Як мені встановити пакет?", "uk"),
        ("Как да инсталирам пакет на Линукс и защо не работи правилно", "bg"),
        ("Wie installiere ich Docker?", "de"),
        ("¿Cómo instalo Docker?", "es"),
        ("Comment trier une liste ?", "fr"),
        ("Como faço para ordenar uma lista em Python?", "pt"),
        ("كيف أثبت بايثون", "ar"),
        ("Πώς", "el"),
        ("שלום", "he"),
    ],
)
def test_short_questions_are_recognised(text, expected):
    assert language.detect(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "123 + 4 = 127",
        "😀😀",
        "```python\nfor x in range(3):\n    print(x)\n```",
        "`x`",
        "https://a.example/b?c",
    ]
    + ["np.array(x)", "```\nHow are you today, my friend? This fence has no end"],
)
def test_without_prose_there_is_no_language(text):
    assert language.detect(text) == ""


@pytest.mark.parametrize(
    ("prose", "expected"), [("почему это не работает", "ru"), ("这段代码有什么问题", "zh"), ("why does it fail", "en")]
)
def test_code_and_addresses_do_not_count(prose, expected):
    code = (
        "```python\n# this comment in the code is written in English, and it is long\nvalue = compute(the, result)\n```"
    )
    unfenced = "def compute_mean(values):\n    total = sum(values)\n    return total / len(values)"
    address = "https://docs.example.org/latest/the-guide-to-all-that-matters/index.html"
    assert language.detect(f"{prose}\n{code}\n{address}") == expected
    assert language.detect(f"{prose}\n{unfenced}") == expected


@given(st.text(st.characters(), max_size=300))
def test_any_text_has_a_code_or_none(text):
    found = language.detect(text)
    assert found == "" or (len(found) == 2 and found.isascii() and found.islower())
    assert language.detect(text) == found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("English", "en"),
        ("Chinese", "zh"),
        ("RUSSIAN", "ru"),
        (" en ", "en"),
        ("zh-CN", "zh"),
        ("zh_Hans", "zh"),
        ("pt-BR", "pt"),
        ("zho", "zh"),
        ("chi", "zh"),
        ("Greek", "el"),
        ("Malay", "ms"),
        ("Punjabi", "pa"),
        ("Bangla", "bn"),
        ("Norwegian Nynorsk", "nn"),
        ("Nynorsk", "nn"),
        ("Nolang", ""),
        ("Klingon", ""),
        ("Filipino", ""),  # has no two-letter code
        ("x-y", ""),
        ("", ""),
    ],
)
def test_names_and_codes_of_languages(name, expected):
    assert language.code(name) == expected


@pytest.mark.skipif(not SIMPLE_DEVQA.exists(), reason="the published benchmark is not here")
def test_published_questions_are_recognised():
    import pyarrow.parquet as pq

    rows = pq.read_table(SIMPLE_DEVQA, columns=["problem", "language"]).to_pylist()
    wrong = [row for row in rows if language.detect(row["problem"]) != language.code(row["language"])]
    # Three questions are in English although the column says Russian.
    assert [row["problem"] for row in wrong if not row["problem"].isascii()] == []
    assert len(wrong) <= 3
