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

/** A secret that is cut in two stands nowhere as a whole: what is looked for is any six signs of it. */
export const cutCanary = 'Zq7w9xVk3LmP5tRb8NcD'
/** Texts in which it stands across a place: six of its signs or more are before it. */
export const across = (place: number, filler = '. '): string[] =>
  Array.from({ length: cutCanary.length - 6 }, (_, at) => {
    const before = filler.repeat(place).slice(0, place - at - 6)
    return `${before}${cutCanary} and more ${filler.repeat(place)}`
  })
/** Knows the canary and nothing else. */
export const redactCanary = (text: string): string => text.replaceAll(cutCanary, '[redacted]')
export const holdsPiece = (text: string): boolean =>
  Array.from({ length: cutCanary.length - 5 }, (_, at) => cutCanary.slice(at, at + 6)).some((piece) =>
    text.includes(piece),
  )
