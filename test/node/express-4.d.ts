// Express 4 under a different name; what the tests use of it has the types of 5.
declare module 'express-4' {
  import express from 'express';
  export default express;
}
