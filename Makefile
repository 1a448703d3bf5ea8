# The entry points. Anything longer than a line lives in scripts/ or in the program.

.PHONY: run test services services-stop clean

run: ## Install what is missing, build, play a 1,000-world season into ./data, and ask it three questions
	@scripts/run.sh

test: ## Run every check
	@scripts/test.sh

services: ## Start PostgreSQL, RabbitMQ and an S3 server on loopback, and say what to export
	@scripts/services.sh start

services-stop: ## Stop them; what they stored stays
	@scripts/services.sh stop

clean: ## Remove what `run` stored
	rm -rf data
