/** Whether and how models may contact the operator of a session. Contract 1, "Operator contact". */

/** Problems of a contact, for the tools of other plugins that reach the operator. */
export { contactErrors } from './errors.js'
