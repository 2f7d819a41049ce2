/** Whether and how models may contact the operator of a session. */

/** Problems of a contact, for the tools of other plugins that reach the operator. */
export { contactErrors } from './errors.js'
