/** Evidence as command lines give it: `KIND:ID`, and an object of JSON where that would say something else. */
import {
  commandErrors,
  parse,
  shellWord,
  type CommandFlag,
  type CommandInput,
  type Json,
} from '../../../core/plugin.js'
import { EvidenceRef } from './record.js'

/** The flag of commands that take evidence. */
export const evidenceFlag: Readonly<Record<'evidence', CommandFlag>> = {
  evidence: {
    kind: 'text',
    value: 'kind:id',
    summary: 'What shows it, or {"kind":…,"id":…} of a kind with a colon; may be given again.',
    several: true,
  },
}

const misread = /^[-{]|:/u

/** What `--evidence` is given for this, as a word for a shell. */
export const evidenceWord = ({ kind, id }: EvidenceRef): string =>
  shellWord(misread.test(kind) ? JSON.stringify({ kind, id }) : `${kind}:${id}`)

const objectIn = (text: string): Json | undefined => {
  try {
    const found = parse(EvidenceRef, JSON.parse(text))
    return found.ok ? { ...found.value } : undefined
  } catch {
    return undefined
  }
}

const refIn = (text: string): Json | undefined => {
  if (text.startsWith('{')) return objectIn(text)
  const at = text.indexOf(':')
  return at > 0 && at < text.length - 1 ? { kind: text.slice(0, at), id: text.slice(at + 1) } : undefined
}

/** What `--evidence` gives. Throws `flag_invalid` for what has no kind or no id. */
export const givenEvidence = ({ all }: Pick<CommandInput, 'all'>): Json[] =>
  all('evidence').map((text) => {
    const found = refIn(text)
    if (found !== undefined) return found
    const problem = 'must be KIND:ID, a word for what it is, a colon, and what it is called, or {"kind":…,"id":…}'
    throw commandErrors.flag_invalid({ details: { flag: 'evidence', problem } })
  })
