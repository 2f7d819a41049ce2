/** Headers that HTTP does not carry. */

const nameForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u
const valueForm = /^[\t\u0020-\u007e\u0080-\u00ff]*$/u

/** The name of the first one that cannot be sent, for its name or its value; undefined if there is none. */
export const unsendableHeader = (headers: Readonly<Record<string, string>>): string | undefined =>
  Object.entries(headers).find(([name, value]) => !nameForm.test(name) || !valueForm.test(value))?.[0]
