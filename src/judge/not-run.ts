/** What a shell answers when a command is missing or may not be run. */
const BY_SHELL = [126, 127];

/** What toolchains say when they themselves did not get as far as a test, each in words that no test prints as its result. */
const TOOLCHAINS: readonly RegExp[] = [
  // Maven, Gradle
  /^(?:ERROR: )?(?:The )?JAVA_HOME (?:environment variable )?is (?:not (?:set|defined)|set to an invalid)/m,
  /^Unable to locate a Java Runtime/m,
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

/** Whether a command ended before anything was tested, as far as that can be recognised: then it proves nothing. */
export const hasNotRun = ({ exitCode, tail }: { exitCode: number; tail: string }): boolean =>
  BY_SHELL.includes(exitCode) || (exitCode !== 0 && TOOLCHAINS.some((one) => one.test(tail)));
