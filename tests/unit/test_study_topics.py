import sys
import textwrap

import pytest

from devqa.errors import UserError
from devqa.study import words
from devqa.study.topics import opened

DEVELOPMENT = [
    "How can I sort a dictionary by value in Python?",
    "write a program that plays tic tac toe",
    "fix this: TypeError: 'NoneType' object is not iterable",
    "What is the difference between a left join and an inner join in SQL?",
    "Give me a regex that matches ISO dates",
    "my docker container exits with code 137, why",
    "Explain async/await to me like I am five",
    "int main() {\n  int x = 0;\n  return x;\n}\nwhat does this do",
    "Create a website with a contact form",
    "git rebase or merge, what would you use in a team?",
    "Напиши скрипт, который переименует все файлы в папке",
    "Как на питоне прочитать CSV и посчитать среднее по столбцу?",
    "В чём разница между интерфейсом и абстрактным классом в Java?",
    "Почему компилятор ругается на эту строку?",
    "Сделай телеграм бота на aiogram, который отвечает на команду /start",
    "Исправь ошибку в коде: undefined is not a function",
    "用Python写一个快速排序算法",
    "这段代码报错，怎么修改？",
    "如何在MySQL数据库中优化慢查询？",
    "帮我写一个网页，用户可以登录",
    "请解释一下Java里的多线程和死锁",
]
OTHER = [
    "Write a poem about autumn leaves",
    "What should I cook tonight with rice and eggs?",
    "Plan a three day trip to Rome for a family",
    "Who won the world cup in 1998?",
    "Is it normal to have a headache every morning?",
    "Write a cover letter for a job as a nurse",
    "Summarise the causes of the First World War",
    "Напиши рассказ о девочке, которая нашла щенка",
    "Чем кормить кошку после операции?",
    "Расскажи о правлении Петра Первого",
    "Придумай поздравление с днём рождения для коллеги",
    "Какие лекарства помогают от кашля?",
    "写一首关于秋天的诗",
    "请推荐几本历史小说",
    "怎么做红烧肉？",
    "帮我写一封请假条给老师",
]


@pytest.mark.parametrize("text", DEVELOPMENT)
def test_prompts_about_development_pass(text):
    assert words.score(text) >= 0.5


@pytest.mark.parametrize("text", OTHER)
def test_prompts_about_other_things_do_not(text):
    assert words.score(text) < 0.5


ESSAY = """The old town lies at the mouth of the river, and from its port ships once carried salt, timber and wool
to every part of the kingdom. Its network of narrow streets still follows the path of the medieval walls; visitors
enter by the western gate, where a stone table shows the layers of its long history. Merchants kept the key of the
treasury in turn, and the log of each voyage was read aloud in the hall. In the nineteenth century the railway came,
then a factory for cotton, a school, two hospitals and a public park with a fountain. Painters from the capital
spent their summers here because of the light. Today most families live from tourism, fishing and a small
university, whose students fill the cafés after dark. Write three paragraphs about what the council should protect
first, and why."""


def test_a_long_text_does_not_pass_because_it_is_long():
    assert words.score(ESSAY) < 0.5
    assert words.score(f"{ESSAY} Then parse it with a regex.") >= 0.5


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "😀" * 50, "\ud7ff", "select " * 5_000, "a_" * 20_000, "<" * 50_000, ";\n" * 30_000]
)
def test_any_text_has_a_score(text):
    assert 0 <= words.score(text) <= 1


def test_words_are_the_engine_that_needs_nothing():
    with opened({"engine": "words", "command": "", "threshold": 0.5}) as topic:
        assert topic.scores(DEVELOPMENT[:2]) == [words.score(text) for text in DEVELOPMENT[:2]]
        assert topic.scores([]) == []


def command(folder, body):
    """The section of the configuration for a program with that body."""
    script = folder / "my classifier.py"
    head = "import json, sys\n"
    script.write_text(head + textwrap.dedent(body), encoding="utf-8")
    return {"engine": "command", "command": f"'{sys.executable}' '{script}'", "threshold": 0.5}


GOOD = """
    for line in sys.stdin:
        print(json.dumps({"score": len(json.loads(line)["text"]) / 100}), flush=True)
"""


def test_a_program_scores_all_batches_in_one_process_in_order(tmp_path):
    body = """
        import os
        for line in sys.stdin:
            text = json.loads(line)["text"]
            print(json.dumps({"score": len(text) / 100, "pid": os.getpid()}), flush=True)
    """
    with opened(command(tmp_path, body)) as topic:
        assert topic.scores(["a", "bb\n", "Привет \u2028 мир"]) == [0.01, 0.03, 0.12]
        assert topic.scores([]) == []
        assert topic.scores(["x" * number for number in range(100)]) == [number / 100 for number in range(100)]


def test_a_batch_may_be_larger_than_any_pipe_both_ways(tmp_path):
    body = """
        for line in sys.stdin:
            print(json.dumps({"score": 0.25, "echo": json.loads(line)["text"]}), flush=True)
    """
    with opened(command(tmp_path, body)) as topic:
        assert topic.scores(["y" * 20_000] * 200) == [0.25] * 200


def test_a_program_may_read_the_whole_batch_before_it_answers(tmp_path):
    body = """
        while lines := [line for _, line in zip(range(300), sys.stdin)]:
            print("\\n".join(json.dumps({"score": 1}) for _ in lines), flush=True)
    """
    with opened(command(tmp_path, body)) as topic:
        assert topic.scores(["y" * 2_000] * 300) == [1.0] * 300


def failure(folder, body, texts=("a", "b"), silence_s=20.0):
    with pytest.raises(UserError) as caught, opened(command(folder, body), silence_s) as topic:
        topic.scores(texts)
    message = str(caught.value)
    assert message.startswith("study.topic.command: '")
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("sys.exit(3)", "ended (exit code 3) before its answer to text 1"),
        ("sys.exit('no model there')", "ended (exit code 1) before its answer to text 1 of a batch: no model there"),
        ("sys.stdin.readline(); print('{\"score\": 1}')", "ended (exit code 0) before its answer to text 2"),
        ("print('hello', flush=True); sys.stdin.read()", "wrote 'hello' where a line"),
        ("print('[1]', flush=True); sys.stdin.read()", "wrote '[1]' where a line"),
        ("print('{\"label\": 1}', flush=True); sys.stdin.read()", "where a line"),
        ("print('{\"score\": 1.5}', flush=True); sys.stdin.read()", "gave the score 1.5: it must be a number from 0"),
        ("print('{\"score\": NaN}', flush=True); sys.stdin.read()", "gave the score nan"),
        ("print('{\"score\": true}', flush=True); sys.stdin.read()", "gave the score True"),
        ("print('{\"score\": \"1\"}', flush=True); sys.stdin.read()", "gave the score '1'"),
        (f"{textwrap.dedent(GOOD)}\nsys.exit(4)", "failed with exit code 4"),
        (f"{textwrap.dedent(GOOD)}\nprint(7)", "wrote more lines than it was given: '7'"),
    ],
)  # fmt: skip
def test_a_program_that_does_not_work_is_one_clear_message(tmp_path, body, expected):
    assert expected in failure(tmp_path, body)


def test_a_program_that_keeps_its_lines_to_itself_is_ended(tmp_path):
    body = """
        for _ in sys.stdin.readlines():
            print('{"score": 1}')
    """
    assert "has not answered within 0.5 s: it must write and flush" in failure(tmp_path, body, silence_s=0.5)


def test_a_program_that_does_not_end_is_ended(tmp_path):
    body = f"{textwrap.dedent(GOOD)}\nimport time; time.sleep(100)"
    assert "did not end within 0.5 s" in failure(tmp_path, body, silence_s=0.5)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("/no/such/program --fast", "No such file"),
        ("/etc", "Permission denied"),
        ("echo 'open", "No closing quotation"),
    ],
)
def test_a_program_that_can_t_be_started_is_named(line, cause):
    with pytest.raises(UserError, match=cause) as caught, opened({"engine": "command", "command": line}):
        pass
    assert line in str(caught.value)


def test_a_program_is_ended_when_the_job_fails(tmp_path):
    body = "import time; time.sleep(100)"
    with pytest.raises(KeyError), opened(command(tmp_path, body)) as topic:
        process = topic._process
        raise KeyError
    assert process.poll() is not None
