declare module "*.css" {
  const text: string;
  export default text;
}
declare module "./assets/*.js" {
  const text: string;
  export default text;
}
