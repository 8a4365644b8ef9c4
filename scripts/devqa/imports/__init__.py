"""Tables from elsewhere: a benchmark, answers, people's grades, figures of other benchmarks."""
