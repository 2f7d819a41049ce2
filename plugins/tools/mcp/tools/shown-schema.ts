/** What servers say of their tools, as models and operators are shown it: without secrets, and nothing hidden. */
import { isJsonObject, redactedAsRead, unsafeCast, visible, type Json } from '../../../../core/plugin.js'

type Redact = (text: string) => string

/** Words for people, which mean the same when they are changed. */
const words: ReadonlySet<string> = new Set(['title', 'description', '$comment', 'default', 'example', 'examples'])
/** Whose members are names that the server gives. */
const naming: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])

const shownText = (text: string, redact: Redact): string => visible(redactedAsRead(text, redact))

/** True of a text that is shown as it is: one that means something cannot be changed. */
const isPlain = (text: string, redact: Redact): boolean => shownText(text, redact) === text

const shownWords = (value: Json, redact: Redact): Json => {
  if (typeof value === 'string') return shownText(value, redact)
  if (Array.isArray(value)) return unsafeCast<readonly Json[]>(value).map((item) => shownWords(item, redact))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [shownText(name, redact), shownWords(item ?? null, redact)]),
  )
}

interface Place {
  readonly redact: Redact
  /** Members are names of the server, and no keywords. */
  readonly isNaming: boolean
}

const shownAt = (value: Json, { redact, isNaming }: Place): Json | undefined => {
  if (typeof value === 'string') return isPlain(value, redact) ? value : undefined
  if (Array.isArray(value)) {
    const items = unsafeCast<readonly Json[]>(value).map((item) => shownAt(item, { redact, isNaming: false }))
    return items.includes(undefined) ? undefined : unsafeCast<Json>(items)
  }
  if (!isJsonObject(value)) return value
  const members: [string, Json][] = []
  for (const [name, item = null] of Object.entries(value)) {
    const isWords = !isNaming && words.has(name)
    const shown = isWords
      ? shownWords(item, redact)
      : shownAt(item, { redact, isNaming: !isNaming && naming.has(name) })
    if (shown === undefined || !isPlain(name, redact)) return undefined
    members.push([name, shown])
  }
  return Object.fromEntries(members)
}

/** The schema with its words made fit to be shown; undefined if a name or a value in it would have to be changed. */
export const shownSchema = (schema: Json, redact: Redact): Json | undefined =>
  shownAt(schema, { redact, isNaming: false })
