/** How much plugins may say of a derivation: what they are asked is held to it, and so is what was recorded before. */

/** Bytes of what is told of a result, as JSON; its files are told by their ids. */
export const mostDerivedBytes = 64 * 1024
/** Characters of a fingerprint, which stands in each record. */
export const mostFingerprint = 4_096
/** Characters of the key of a subject. */
export const mostSubjectKey = 512
/** Characters of the key of a record: of profile and version, subject and fingerprint. */
export const mostRecordKey = mostFingerprint + mostSubjectKey + 100
