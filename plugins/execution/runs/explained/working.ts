/** What a run is at that executes (explanations-6). */
import { assertNever, commandLine, count, sentence } from '../../../../core/plugin.js'
import type { Reason } from '../../../operator/explanations/contract.js'
import type { ControlContext } from '../lifecycle/executor.js'
import type { RunStep } from '../lifecycle/run-engine.js'
import type { RunningRun } from '../record/run-record.js'
import { daemonReasons, placeReason } from './waiting.js'

/** Characters of a failure that are told. */
const mostText = 300

const routeReasons = ({ provider, route_wait, held_call }: RunningRun, now: number): readonly Reason[] => [
  ...(route_wait === undefined
    ? []
    : [
        {
          code: 'route_wait',
          text: sentence(
            `The route ${provider} has failed ${count(route_wait.attempts, 'time')} and is asked again ` +
              `(${route_wait.code}): ${route_wait.message.slice(0, mostText)}`,
          ),
          since_ms: route_wait.since_ms,
          ...(route_wait.next_attempt_at_ms > now && { until_ms: route_wait.next_attempt_at_ms }),
          commands: [commandLine('status')],
        },
      ]),
  ...(held_call === undefined || held_call.until_ms <= now
    ? []
    : [
        {
          code: 'held_call',
          text: `The server behind the route ${provider} wants no call before its time.`,
          until_ms: held_call.until_ms,
        },
      ]),
]

const stepText = ({ provider }: RunningRun, { kind, name }: RunStep): string => {
  switch (kind) {
    case 'model':
      return `The model ${name} of the route ${provider} is answering.`
    case 'turn':
      return (
        `The route ${provider} makes no more calls at a time, and others are under way; max_concurrent_calls of it ` +
        'in config/routes.toml says how many.'
      )
    case 'tool':
      return `The tool ${name} is at work.`
    case 'arrival':
      return 'It waits for the tools of MCP servers that are being connected.'
    case 'compaction':
      return 'Its conversation is being summed up.'
    case 'folder':
      return 'Its worktree is being made.'
    default:
      return assertNever(kind)
  }
}

const codes: Readonly<Record<RunStep['kind'], string>> = {
  model: 'model_call',
  turn: 'route_full',
  tool: 'tool_call',
  arrival: 'tools_arrive',
  compaction: 'compaction',
  folder: 'worktree',
}

const stepReason = (run: RunningRun, step: RunStep): Reason => ({
  code: codes[step.kind],
  text: stepText(run, step),
  since_ms: step.since_ms,
  commands: [...(step.kind === 'arrival' ? [commandLine('mcp list')] : []), commandLine('runs cancel', run.run_id)],
})

export const workReasons = (context: ControlContext, run: RunningRun): readonly Reason[] => {
  const { steps, wants_place } = context.executor.standing(run.run_id)
  const held = routeReasons(run, context.clock.now())
  // What a call waits for before it is made: no answer of it comes.
  const isHeld = held.some(({ until_ms }) => until_ms !== undefined) || steps.some(({ kind }) => kind === 'turn')
  return [
    ...(run.stopping === undefined
      ? []
      : [{ code: 'stopping', text: 'Somebody has asked to end it; the step under way ends first.' }]),
    ...daemonReasons(context, run.run_id),
    ...held,
    ...(wants_place
      ? [placeReason(context, run.run_id)]
      : steps.filter(({ kind }) => kind !== 'model' || !isHeld).map((step) => stepReason(run, step))),
  ]
}
