/** Exit codes of a shell when a command is missing or cannot be executed. */
const BY_SHELL = [126, 127];

/** What toolchains print when they fail before any test runs, in words that no test result contains. */
const TOOLCHAINS: readonly RegExp[] = [
  // make, just, task: what they say about the shell that they started
  /^(?:make(?:\[\d+\])?: \*\*\* .* Error|error: Recipe `.*` failed .* with exit code|task: Failed to run task .* exit status) 12[67]$/m,
  // Maven, Gradle
  /^(?:ERROR: )?(?:The )?JAVA_HOME (?:environment variable )?is (?:not (?:set|defined)|set to an invalid)/m,
  /^Unable to locate a Java Runtime/m,
  /^\[ERROR\].*(?:Unresolveable build extension|Non-resolvable (?:parent|import) POM|Could not (?:transfer artifact|resolve dependencies for project))/m,
  /^> Could not resolve all (?:files|artifacts|dependencies) for configuration/m,
  /^\s+at org\.gradle\.wrapper\.|^\S*\s*Failed to fetch https?:\/\/\S*maven/m,
  // Cargo, rustup
  /^error: failed to (?:get|download|fetch|load source for|query replaced source)[\s\S]*(?:network|resolve host|registry|offline)/m,
  /^error: (?:no matching package named|rustup could not choose a version|toolchain '[^']*' is not installed)/m,
  // Go
  /^go: .*(?:dial tcp|no such host|GOPROXY list is not the empty string|cannot find GOROOT)/m,
  // Python, Ruby, PHP, Node
  /No module named (?:'|")?(?:pytest|tox|nox|unittest2)(?:'|")?$/m,
  /^Could not find .* in (?:any of the sources|locally installed gems)|^bundler: command not found/m,
  /^npm (?:error|ERR!) (?:code E(?:NOTFOUND|AI_AGAIN|CONNREFUSED)|Missing script)/m,
];

/** What a shell prints about a missing program. */
const MISSING = /^.*(?:not found|No such file or directory)$/m;

/** The line that best explains why nothing ran. */
export function whyNotRun(tail: string): string {
  const told = TOOLCHAINS.map((one) => one.exec(tail)).find((one) => one !== null);
  const line = told && tail.slice(told.index).trimStart().split("\n")[0];
  return MISSING.exec(tail)?.[0] ?? line ?? tail.trimEnd().split("\n").at(-1) ?? "";
}

/**
 * Whether a command ended before anything was tested, as far as we can recognise it: then it proves nothing.
 */
export const hasNotRun = ({ exitCode, tail }: { exitCode: number; tail: string }): boolean =>
  BY_SHELL.includes(exitCode) || (exitCode !== 0 && TOOLCHAINS.some((one) => one.test(tail)));
