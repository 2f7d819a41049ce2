/** What kinds of connectors need to let events in. Rules: docs/rules/connectors.md. */

/** Where senders of events are told of problems, and the problems: each code is that of its status. */
export { ingressDomain, ingressErrors } from './errors.js'
/** A run as the sender of its event may see it: the members that its shape needs. */
export { outsiderView } from './outsider-view.js'
