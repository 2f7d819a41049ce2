import { inlineSchema, type AnyStruct } from '../../../core/base/schema.js'
import { laterMoments, momentFacts, moments, type Moment } from '../../../plugins/execution/interception/contract.js'
import { HookInvocation } from '../../../plugins/operator/hooks/invocation.js'
import { Outcome } from '../../../plugins/operator/hooks/outcome/outcome.js'
import { anchor, code, codes, fieldTable, page, table } from '../markdown.js'

const told = 'Told; nobody waits for it.'
const tableOf = (struct: AnyStruct): string => fieldTable(inlineSchema(struct))

const part = (event: Moment): string[] => {
  const { when, subject, can, payload } = momentFacts[event]
  const about = subject === undefined ? 'It has no subject.' : `Its subject is ${subject}.`
  return [`### ${event}`, `${when} ${about} ${can ?? told}`, tableOf(payload)]
}

export const hooksPage = (): string =>
  page(
    '# Hooks',
    'What hooks are told, and what they may answer. How they are set and what holds for them stands in ' +
      '[the rules](../rules/hooks.md). Times are milliseconds since 1970 where a member ends in `_at_ms`.',
    '## The document',
    'A command reads it on standard input, an HTTP hook gets it by POST, a model reads it before its question.',
    tableOf(HookInvocation),
    '## The outcome',
    'JSON on standard output of a command, in the answer to a POST, or as what a model says. Nothing is no objection.',
    tableOf(Outcome),
    '## Moments',
    table(
      ['moment', 'when', 'subject', 'what a ruling can do'],
      moments.map((event) => {
        const { when, subject, can } = momentFacts[event]
        return [`[${code(event)}](#${anchor(event)})`, when, subject ?? '', can ?? told]
      }),
    ),
    `Hooks for ${codes(laterMoments)} are kept and never asked: what they are about is not there yet.`,
    ...moments.map(part),
  )
