# Entry points. Anything longer than a line is in scripts/ or in the program.

.PHONY: run test wheel services services-stop clean

run: ## Install missing tools, build, play a 1,000-world season into ./data, and ask three questions
	@scripts/run.sh

test: ## Run every check
	@scripts/test.sh

wheel: ## Build the Python package into ./wheels
	@scripts/wheel.sh

services: ## Start PostgreSQL, RabbitMQ and an S3 server on loopback, and print what to export
	@scripts/services.sh start

services-stop: ## Stop the services and keep their data
	@scripts/services.sh stop

clean: ## Remove the data that `run` stored
	rm -rf data
