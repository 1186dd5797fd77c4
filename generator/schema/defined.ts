export { type Defined, defined } from '../../runtime/domain/defined.js';
