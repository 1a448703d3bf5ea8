# The entry points. Anything longer than a line lives in scripts/ or in the program.

.PHONY: run test clean

run: ## Install what is missing, build, play a 1,000-world season into ./data, and ask it three questions
	@scripts/run.sh

test: ## Run every check
	@scripts/test.sh

clean: ## Remove what `run` stored
	rm -rf data
