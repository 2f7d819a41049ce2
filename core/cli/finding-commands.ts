/** `state findings`: what starts and repairs found, from the daemon that holds the root. */
import { count } from '../base/text/command-text.js'
import { showTime } from '../base/time/moments.js'
import { defineCommand, type Command } from '../plugin/command.js'
import { parse } from '../base/parse.js'
import { array, integer, object, type Json } from '../base/schema.js'
import { StateFinding } from '../records/findings.js'
import { visibleLine } from '../base/text/visible.js'

const placeOf = ({ file, byte }: StateFinding): string =>
  file === undefined ? '' : `\n  at: ${visibleLine(file)}${byte === undefined ? '' : ` byte ${byte}`}`

const showOne = (finding: StateFinding): string => {
  const { finding_id, code, severity, message, action, last_found_at_ms, times } = finding
  const when = showTime(last_found_at_ms)
  return (
    `${severity} ${code}: ${visibleLine(message)}${placeOf(finding)}\n  ${visibleLine(action)}\n` +
    `  ${when}${times === 1 ? '' : `, ${times} times`}, ${finding_id}`
  )
}

const Acknowledged = object({ acknowledged: integer() })

const show = (answer: Json): string => {
  const done = parse(Acknowledged, answer)
  if (done.ok) return `Acknowledged ${count(done.value.acknowledged, 'finding')}.`
  const parsed = parse(array(StateFinding), answer)
  if (!parsed.ok) return JSON.stringify(answer, null, 2)
  if (parsed.value.length === 0) return 'Nothing waits to be acknowledged.'
  return [...parsed.value.map(showOne), 'Once you have seen to them: holdfast state findings --acknowledge all'].join(
    '\n',
  )
}

export const findingsCommand: Command = defineCommand({
  path: ['state', 'findings'],
  route: 'GET /v1/state/findings',
  summary: 'What starts, recoveries and repairs of the state root found and nobody has acknowledged.',
  fields: { 'body.finding_id': '--acknowledge' },
  flags: { acknowledge: { kind: 'text', summary: 'Take a finding off the list: its id, or all.' } },
  run: ({ client, flags }) => {
    const { acknowledge } = flags
    return typeof acknowledge === 'string'
      ? client.send('POST', '/v1/state/findings/acknowledge', { finding_id: acknowledge })
      : client.get('/v1/state/findings')
  },
  show,
})
