/* A model in C: two tables at which Ann and Bob roll dice.
 *
 * cc -O2 -o dice examples/program/dice.c && manyworlds run --program ./dice --worlds 1000
 *
 * Reads only what it needs of a request: the first world, the parameter `rolls`, and the seed of each world. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SplitMix64: any generator will do if the world's seed starts it. */
static uint64_t state;

static uint64_t next(void) {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int roll(int dice) {
    int sum = 0;
    while (dice-- > 0) sum += 1 + (int)(next() % 6);
    return sum;
}

/* The text after "name": in a request. */
static char *after(char *line, const char *name) {
    char key[32];
    snprintf(key, sizeof key, "\"%s\":", name);
    char *found = strstr(line, key);
    if (!found) {
        fprintf(stderr, "the request has no %s\n", name);
        exit(1);
    }
    return found + strlen(key);
}

int main(void) {
    puts("{\"name\": \"dice-c\", \"version\": \"1\","
         " \"kinds\": {\"table\": {\"ann\": \"number\", \"bob\": \"number\", \"ann_wins\": \"flag\"}},"
         " \"entities\": [\"table-1\", \"table-2\"],"
         " \"parameters\": {\"rolls\": {\"default\": 10, \"min\": 1, \"max\": 1000}}}");
    fflush(stdout);
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        long world = strtol(after(line, "first"), NULL, 10);
        int rolls = (int)strtod(after(line, "rolls"), NULL);
        char *seed = after(line, "seeds");
        while (*seed == '[' || *seed == ',') {
            state = strtoull(seed + 1, &seed, 10);
            for (int table = 0; table < 2; table++) {
                int ann = roll(rolls), bob = roll(rolls);
                printf("{\"world\":%ld,\"entity\":%d,\"ann\":%d,\"bob\":%d,\"ann_wins\":%d}\n", world, table, ann, bob, ann > bob);
            }
            world++;
        }
        putchar('\n'); /* an empty line ends the answer */
        fflush(stdout);
    }
    return 0;
}
