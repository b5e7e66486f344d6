export { toStoredName } from '../storage/stored-name.js';
