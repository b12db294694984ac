import { describe, expect, test } from "vitest";
import { configText } from "../../../src/installer/project/config-text.ts";
import type { ProjectLook } from "../../../src/installer/project/kinds.ts";
import { proposeFor } from "../../../src/installer/project/propose.ts";
import { readConfigText } from "../../../src/model/config.ts";
import { fullYaml } from "../../../src/model/markdown/full-yaml.ts";

/** A project is its files: what they say, by their path. */
function lookAt(files: Record<string, string>): ProjectLook {
  const below = (folder: string) =>
    Object.keys(files)
      .filter((path) => folder === "" || path.startsWith(`${folder}/`))
      .map((path) => path.slice(folder === "" ? 0 : folder.length + 1).split("/")[0] ?? "");
  return {
    names: new Set(below("")),
    list: (folder) => [...new Set(below(folder))],
    read: (path) => files[path],
  };
}

const npm = (scripts: Record<string, string>, more: object = {}) =>
  JSON.stringify({ scripts, devDependencies: { tool: "1" }, ...more });

const KINDS: [string, Record<string, string>, Record<string, string>, string | undefined][] = [
  [
    "npm, locked",
    {
      "package.json": npm({ test: "vitest run", lint: "eslint .", typecheck: "tsc" }),
      "package-lock.json": "",
    },
    { test: "npm test", lint: "npm run lint", types: "npm run typecheck" },
    "npm ci",
  ],
  [
    "npm without a lock",
    { "package.json": npm({ test: "ava" }) },
    { test: "npm test" },
    "npm install --no-package-lock",
  ],
  [
    "npm without dependencies",
    { "package.json": '{"scripts":{"test":"node --test"}}' },
    { test: "npm test" },
    undefined,
  ],
  [
    "what npm init writes is not a test",
    {
      "package.json":
        '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1","build":"make-it"}}',
    },
    { build: "npm run build" },
    undefined,
  ],
  [
    "a script that changes files is not a check",
    { "package.json": '{"scripts":{"test":"jest --watch","lint":"eslint --fix ."}}' },
    {},
    undefined,
  ],
  [
    "pnpm workspace",
    {
      "package.json": npm({ test: "turbo test" }, { packageManager: "pnpm@9.1.0" }),
      "pnpm-lock.yaml": "",
      "pnpm-workspace.yaml": "",
    },
    { test: "pnpm test" },
    "pnpm install --frozen-lockfile",
  ],
  [
    "yarn of today",
    { "package.json": npm({ test: "jest" }), "yarn.lock": "", ".yarnrc.yml": "" },
    { test: "yarn test" },
    "yarn install --immutable",
  ],
  [
    "bun",
    { "package.json": npm({ test: "bun test" }), "bun.lock": "" },
    { test: "bun run test" },
    "bun install --frozen-lockfile",
  ],
  ["a package.json that is broken", { "package.json": "{" }, {}, undefined],
  [
    "uv",
    { "pyproject.toml": "[project]\n[tool.pytest.ini_options]\n[tool.ruff]\n", "uv.lock": "" },
    { test: "uv run python -m pytest", lint: "uv run ruff check --no-fix ." },
    "uv sync --locked --all-extras",
  ],
  [
    "uv with groups of dependencies",
    { "pyproject.toml": '[project]\n[dependency-groups]\ntests = ["pytest"]\n', "uv.lock": "" },
    { test: "uv run python -m pytest" },
    "uv sync --locked --all-extras --all-groups",
  ],
  [
    "poetry",
    { "pyproject.toml": "[tool.poetry]\n", "tests/test_a.py": "" },
    { test: "poetry run python -m pytest" },
    "poetry install",
  ],
  [
    "plain pytest",
    { "setup.py": "", "tests/test_a.py": "", "pytest.ini": "" },
    { test: "python -m pytest" },
    undefined,
  ],
  [
    "unittest",
    { "setup.py": "", "tests/test_a.py": "" },
    { test: "python3 -m unittest discover" },
    undefined,
  ],
  ["tox alone", { "setup.py": "", "tox.ini": "" }, { test: "tox" }, undefined],
  [
    "Django",
    { "requirements.txt": "django", "manage.py": "" },
    { test: "python3 manage.py test" },
    undefined,
  ],
  ["Rust", { "Cargo.toml": "[package]\n" }, { test: "cargo test" }, undefined],
  [
    "Rust workspace",
    { "Cargo.toml": "[workspace]\nmembers = []\n" },
    { test: "cargo test --workspace" },
    undefined,
  ],
  ["Go", { "go.mod": "module x" }, { test: "go test ./...", lint: "go vet ./..." }, undefined],
  [
    "Go work",
    { "go.work": "go 1.22\n\nuse (\n\t./a\n\t./b\n)\n" },
    { test: "go test ./a/... ./b/..." },
    undefined,
  ],
  [
    "a Makefile's own test stands for the language's",
    { "go.mod": "module x", Makefile: "VAR := 1\ntest: build\n\tgo test ./...\nlint:\n\tgolint\n" },
    { test: "make test", lint: "make lint", "lint-go": "go vet ./..." },
    undefined,
  ],
  ["C with make", { Makefile: "all:\n\tcc a.c\ncheck:\n\t./run\n" }, { test: "make check" }, undefined],
  [
    "RSpec",
    { Gemfile: 'gem "rspec"', "spec/a_spec.rb": "" },
    { test: "bundle exec rspec" },
    "bundle install",
  ],
  [
    "Rake",
    { Gemfile: "", Rakefile: "Rake::TestTask.new" },
    { test: "bundle exec rake test" },
    "bundle install",
  ],
  [
    "PHP with a script",
    { "composer.json": '{"scripts":{"test":"phpunit"}}', "phpstan.neon": "" },
    { test: "composer run-script test", types: "vendor/bin/phpstan analyse" },
    "composer install --no-interaction",
  ],
  [
    "PHPUnit",
    { "composer.json": "{}", "phpunit.xml.dist": "" },
    { test: "vendor/bin/phpunit" },
    "composer install --no-interaction",
  ],
  ["Maven", { "pom.xml": "", mvnw: "" }, { test: "./mvnw --batch-mode test" }, undefined],
  ["Gradle", { "build.gradle.kts": "" }, { test: "gradle test" }, undefined],
  [
    "C with meson, built where it leaves nothing behind",
    { "meson.build": "" },
    {
      test: 'd=$(mktemp -d) && meson setup "$d" && meson test -C "$d" --print-errorlogs; r=$?; rm -rf "$d"; exit $r',
    },
    undefined,
  ],
  ["Elixir", { "mix.exs": "" }, { test: "mix test" }, "mix deps.get"],
  [".NET", { "App.sln": "" }, { test: "dotnet test" }, undefined],
  [
    "two kinds: the second says whose its checks are",
    { "package.json": '{"scripts":{"test":"node --test"}}', "Cargo.toml": "[package]\n" },
    { test: "npm test", "test-cargo": "cargo test" },
    undefined,
  ],
  [
    "only CI says anything",
    {
      "README.md": "",
      ".github/workflows/lint.yml":
        'jobs:\n  a:\n    steps:\n      - run: npm install -g markdownlint-cli\n      - run: markdownlint "**/*.md"\n      - run: npm test -- $GITHUB_SHA\n',
    },
    { lint: 'markdownlint "**/*.md"' },
    undefined,
  ],
  [
    "only CI says anything, and where",
    {
      ".github/workflows/ci.yml":
        "jobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n      - name: Test\n        working-directory: ./web\n        run: npm test\n      - run: make lint\n",
    },
    { test: "cd ./web && npm test", lint: "make lint" },
    undefined,
  ],
  ["documents", { "README.md": "" }, {}, undefined],
  ["empty", {}, {}, undefined],
];

describe("what install proposes", () => {
  test.each(KINDS)("%s", (_name, files, checks, setup) => {
    const proposal = proposeFor(lookAt(files));
    expect(Object.fromEntries(proposal.checks.map((one) => [one.name, one.command]))).toEqual(checks);
    expect(proposal.setup).toBe(setup);
  });

  test.each(KINDS)("%s: pawl itself reads the config as intended", (_name, files, checks, setup) => {
    const config = readConfigText("config.yaml", configText(proposeFor(lookAt(files))), fullYaml);
    expect(config.checks).toEqual(
      Object.entries(checks).map(([name, command]) => ({ name, argv: ["sh", "-c", command] })),
    );
    expect(config.setup).toEqual(setup === undefined ? undefined : ["sh", "-c", setup]);
  });

  test.each<[string, Record<string, string>, boolean]>([
    ["a package with no list", { "package.json": '{"name":"x","version":"1.0.0"}' }, true],
    [
      "a list that leaves nothing out",
      { "package.json": '{"name":"x","version":"1.0.0","files":["**/*"]}' },
      true,
    ],
    ["a list", { "package.json": '{"name":"x","version":"1.0.0","files":["lib","*.js"]}' }, false],
    ["a private one", { "package.json": '{"name":"x","version":"1.0.0","private":true}' }, false],
    [
      "others are left out",
      { "package.json": '{"name":"x","version":"1.0.0"}', ".npmignore": "test\n" },
      true,
    ],
    [
      "ours are left out",
      { "package.json": '{"name":"x","version":"1.0.0"}', ".npmignore": "test\n.*\n" },
      false,
    ],
    ["one that cannot be published", { "package.json": '{"scripts":{}}' }, false],
    ["no package of npm's", { "Cargo.toml": "[package]" }, false],
  ])("whether npm would publish what install writes: %s", (_name, files, packed) => {
    expect(proposeFor(lookAt(files)).packed).toBe(packed);
  });

  test("a person's answers replace the defaults", () => {
    const text = configText({
      checks: [],
      setup: undefined,
      from: [],
      packed: false,
      profile: "light",
      protected: ["main", "release/*"],
    });
    expect(readConfigText("config.yaml", text, undefined)).toMatchObject({
      profile: "light",
      protected: ["main", "release/*"],
    });
  });
});
