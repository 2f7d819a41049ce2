/**
 * True for the name of an IANA time zone, such as `Europe/Berlin`; offsets such as `+02:00` are no names. The tables of
 * zones take tens of milliseconds to read: who asks for UTC alone does not need them.
 */
export const isZone = (name: string): boolean => name === 'UTC' || (/^[A-Za-z][\w+\-/]*$/u.test(name) && hasZone(name))

const hasZone = (timeZone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
