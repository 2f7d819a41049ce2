/** How a value that must stand nowhere may stand somewhere. */

/** The signs of base64 that a value alone makes, with none, one or two signs in front of it. */
const shifted = (value: string): string[] =>
  [0, 2, 3].map((cut, before) => {
    const whole = Buffer.from('x'.repeat(before) + value)
    return whole.toString('base64').slice(cut, Math.floor(whole.length / 3) * 4)
  })
/** As it is, in hex, as in a URL, and in base64 and base64url wherever it begins. */
export const formsOf = (value: string): string[] => [
  value,
  Buffer.from(value).toString('hex'),
  encodeURIComponent(value),
  ...shifted(value),
  ...shifted(value).map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
]
