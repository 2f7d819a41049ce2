/** How deeply a JSON text is nested, before anything walks it: a walk that calls itself ends at some depth. */

/** Deepest nesting of values that come from outside. */
export const maxDepth = 64

/** Skips a text from after its opening quote to after the closing one. */
const afterText = (json: string, from: number): number => {
  let at = from
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at + 1
}

/** False if a JSON text is nested more than 64 levels deep. */
export const isShallow = (json: string): boolean => {
  let depth = 0
  for (let at = 0; at < json.length;) {
    const sign = json[at]
    at += 1
    if (sign === '"') at = afterText(json, at)
    else if (sign === '[' || sign === '{') depth += 1
    else if (sign === ']' || sign === '}') depth -= 1
    if (depth > maxDepth) return false
  }
  return true
}
