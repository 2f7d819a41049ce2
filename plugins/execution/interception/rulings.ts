/** Several rulings on one moment, as one. */
import type { JsonObject } from '../../../core/plugin.js'
import type { Invocation, Ruling, RulingPart } from './moments.js'

const strictness = { allow: 0, ask: 1, deny: 2 } as const

/** Of two rulings the one that is stricter about permission; the first if they are equal. */
export const strictest = (one: Ruling, other: Ruling): Ruling =>
  one.permission !== undefined &&
  (other.permission === undefined || strictness[one.permission] >= strictness[other.permission])
    ? one
    : other

/** Characters of a reason that are kept of what one of several did. */
const mostReason = 500

const partOf = (ruling: Ruling): RulingPart => {
  const { by, block, permission, reason, updated_input, updated_output, contexts, gave_rules, failed } = ruling
  const did = {
    block: block !== undefined,
    [permission ?? 'allow']: permission !== undefined,
    input: updated_input !== undefined,
    output: updated_output !== undefined,
    context: contexts !== undefined,
    rules: gave_rules === true,
    failed: failed !== undefined,
  }
  const why = block ?? reason ?? failed
  return {
    by: by.join(', '),
    did: deeds.filter((deed) => did[deed] === true),
    ...(why !== undefined && { reason: why.slice(0, mostReason) }),
  }
}
const deeds = ['block', 'allow', 'deny', 'ask', 'input', 'output', 'context', 'rules', 'failed'] as const

const partsOf = ({ plugin, ...ruling }: Ruling): readonly RulingPart[] =>
  (ruling.parts ?? [partOf(ruling)]).map((part) => (plugin === undefined ? part : { ...part, plugin }))

/** Of two rulings, the second after the first. */
const both = (first: Ruling, second: Ruling): Ruling => {
  const { permission, reason } = strictest(first, second)
  const contexts = [...(first.contexts ?? []), ...(second.contexts ?? [])]
  return Object.assign(
    {},
    first,
    second,
    { by: [...first.by, ...second.by], parts: [...(first.parts ?? []), ...partsOf(second)], plugin: second.plugin },
    permission !== undefined && { permission, reason },
    contexts.length > 0 && { contexts },
  )
}

/** Names of those who did this; of all where it is not known who did what. */
export const namesOf = (
  { by, parts = [] }: Pick<Ruling, 'by' | 'parts'>,
  deed: RulingPart['did'][number],
): readonly string[] => {
  const names = parts.filter(({ did }) => did.includes(deed)).map((part) => part.by)
  return names.length === 0 ? by : names
}

/** The same in words that follow "the": hooks by their names, and of all others the plugin. */
export const whoDid = (ruling: Pick<Ruling, 'by' | 'parts'>, deed: RulingPart['did'][number]): string => {
  const did = ruling.parts?.filter((part) => part.did.includes(deed)) ?? []
  const plugins = new Set(did.flatMap(({ plugin }) => plugin ?? []))
  const hooks = did.length === 0 ? ruling.by : did.flatMap(({ by, plugin }) => (plugin === undefined ? by : []))
  const named = hooks.length === 0 ? [] : [`hook ${hooks.join(', ')}`]
  return [...named, ...[...plugins].map((id) => `plugin ${id}`)].join(' and the ')
}

/** What is there once a ruling has changed it: the next one sees that. */
const after = (invocation: Invocation, { updated_input, updated_output }: Ruling): Invocation => {
  const changed: JsonObject = {
    ...(updated_input !== undefined && 'tool_input' in invocation.payload && { tool_input: updated_input }),
    ...(typeof updated_input === 'string' && 'prompt' in invocation.payload && { prompt: updated_input }),
    ...(updated_output !== undefined && 'tool_output' in invocation.payload && { tool_output: updated_output }),
  }
  return { ...invocation, payload: { ...invocation.payload, ...changed } }
}

/** Asks one after the other, each about what the ones before have made of it, until one blocks. */
export const askInTurn = async <T>(
  invocation: Invocation,
  asked: readonly T[],
  ask: (one: T, invocation: Invocation) => Promise<Ruling | undefined>,
): Promise<Ruling> => {
  let [now, ruling]: [Invocation, Ruling] = [invocation, { by: [] }]
  for (const one of asked) {
    const made = await ask(one, now)
    if (made === undefined) continue
    ruling = both(ruling, made)
    if (ruling.block !== undefined) return ruling
    now = after(now, made)
  }
  return ruling
}
