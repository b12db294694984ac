// npm runs this before `npm run pack` too, which makes the package; what npm itself would pack is the development.
if (/^(?:pack|publish)$/.test(process.env.npm_command ?? "")) {
  console.error("The package is made by: npm run pack");
  process.exitCode = 1;
}
