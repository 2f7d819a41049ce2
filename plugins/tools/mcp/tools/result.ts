/** What came of a call, as a model reads it: text, and what else there is in words. */
import { inTurns, isJsonObject, redactingTo, unsafeCast, type Json, type JsonObject } from '../../../../core/plugin.js'

/** Characters of one answer. */
const mostText = 256 * 1024

const text = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

/** Bytes of what stands in base64. */
const sizeOf = (data: Json | undefined): string => `${Math.floor(((text(data) ?? '').length * 3) / 4)} bytes`

const typeOf = (part: JsonObject): string => text(part['mimeType']) ?? 'of an unknown type'

/** A resource with what it holds; what is no text is told of and not shown. */
export const resourceText = (resource: JsonObject): string => {
  const uri = text(resource['uri']) ?? 'without an address'
  const held = text(resource['text'])
  return held === undefined
    ? `[The resource ${uri}, ${typeOf(resource)}, ${sizeOf(resource['blob'])}: not shown.]`
    : `[The resource ${uri}:]\n${held}`
}

/** One part of an answer; what is no text is told of and not shown. */
export const partText = (part: Json): string => {
  if (!isJsonObject(part)) return '[A part that cannot be read.]'
  switch (part['type']) {
    case 'text':
      return text(part['text']) ?? ''
    case 'image':
      return `[An image, ${typeOf(part)}, ${sizeOf(part['data'])}: not shown.]`
    case 'audio':
      return `[A sound, ${typeOf(part)}, ${sizeOf(part['data'])}: not played.]`
    case 'resource':
      return isJsonObject(part['resource']) ? resourceText(part['resource']) : '[A resource that cannot be read.]'
    case 'resource_link':
      return `[The resource ${text(part['uri']) ?? ''}, ${text(part['name']) ?? 'without a name'}: a link.]`
    default:
      return '[A part of an unknown kind.]'
  }
}

type Redact = (text: string) => string

/** Redacted, and then cut to what one answer may have; others are served in between. */
export const shownWhole = async (whole: string, redact: Redact): Promise<string> => {
  const shown = await inTurns(redactingTo(whole, mostText, redact))
  return whole.length <= mostText ? shown : `${shown}\n[Cut: ${whole.length - mostText} more characters.]`
}

const listIn = (result: JsonObject, member: string): readonly Json[] => {
  const found = result[member]
  return Array.isArray(found) ? unsafeCast<readonly Json[]>(found) : []
}

/** The text of a result; where there is none, its structure. */
export const resultText = (result: JsonObject, redact: Redact): Promise<string> => {
  const content = listIn(result, 'content').map(partText).join('\n')
  const structured = result['structuredContent']
  return shownWhole(content === '' && structured !== undefined ? JSON.stringify(structured) : content, redact)
}

/** Text of what was read of a resource. */
export const contentsText = (result: JsonObject, redact: Redact): Promise<string> =>
  shownWhole(
    listIn(result, 'contents')
      .map((part) => (isJsonObject(part) ? resourceText(part) : '[A part that cannot be read.]'))
      .join('\n'),
    redact,
  )

/** The members of a list that are objects. */
export const objectsIn = (result: JsonObject, member: string): readonly JsonObject[] =>
  listIn(result, member).filter(isJsonObject)
