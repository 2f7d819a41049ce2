/** Evidence as command lines give it: `KIND:ID`, as kinds have no colon and ids may. */
import { commandErrors, type CommandFlag, type CommandInput, type Json } from '../../../core/plugin.js'

/** The flag of commands that take evidence. */
export const evidenceFlag: Readonly<Record<'evidence', CommandFlag>> = {
  evidence: { kind: 'text', value: 'kind:id', summary: 'What shows it; may be given again.', several: true },
}

/** What `--evidence` gives. Throws `flag_invalid` for what has no kind or no id. */
export const givenEvidence = ({ all }: Pick<CommandInput, 'all'>): Json[] =>
  all('evidence').map((text) => {
    const at = text.indexOf(':')
    if (at > 0 && at < text.length - 1) return { kind: text.slice(0, at), id: text.slice(at + 1) }
    const problem = 'must be KIND:ID: a word for what it is, a colon, and what it is called'
    throw commandErrors.flag_invalid({ details: { flag: 'evidence', problem } })
  })
