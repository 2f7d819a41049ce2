/** What kinds of connectors need to let events in. Rules: docs/rules/connectors.md. */

/** Where senders of events are told of problems, and the problems: each code is that of its status. */
export { ingressDomain, ingressErrors } from './event/errors.js'
/** A run as the sender of its event may see it: the members that its shape needs. */
export { outsiderView } from './outsider-view.js'
/** Members of the metadata of runs that events of sidecars have, and that no sidecar writes. */
export { externalKeys } from './reserved.js'
/** Fetches a file of a platform by its address, for sources of files; its bounds, and what a file may be called. */
export { fetchFile, fileTimeoutMs, mostFileBytes } from './files/fetch-file.js'
/** Which file is wanted. */
export type { FileWish } from './files/fetch-file.js'
/** What is said to a platform beside the answer of a run: a few at a time, and what is beyond is left out. */
export { createAsides } from './asides.js'
/** Its shape. */
export type { Asides } from './asides.js'
/** The name of a file that outsiders named: nothing that leads elsewhere or hides, and never empty. */
export { fileNameOf } from './files/file-name.js'
