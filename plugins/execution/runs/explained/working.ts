/** What a run is at that executes (explanations-6). */
import { assertNever, commandLine, count, sentence } from '../../../../core/plugin.js'
import type { Reason } from '../../../operator/explanations/contract.js'
import type { ControlContext } from '../lifecycle/executor.js'
import type { RunStep } from '../lifecycle/run-engine.js'
import { nextAttemptAt, type RunningRun } from '../record/run-record.js'
import { daemonReasons, placeReason } from './waiting.js'

/** Characters of a failure that are told. */
const mostText = 300

const routeReasons = (run: RunningRun, now: number): readonly Reason[] => {
  const { provider, route_wait, held_call } = run
  const commands = [commandLine('status'), commandLine('runs cancel', run.run_id)]
  const until_ms = nextAttemptAt(run)
  return [
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
            ...(until_ms > now && { until_ms }),
            commands,
          },
        ]),
    ...(held_call === undefined || held_call.until_ms <= now
      ? []
      : [
          {
            code: 'held_call',
            text: `The server behind the route ${provider} has asked for no calls for a while.`,
            until_ms: held_call.until_ms,
            commands,
          },
        ]),
  ]
}

const stepText = ({ provider }: RunningRun, { kind, name }: RunStep, routesFile: string): string => {
  switch (kind) {
    case 'model':
      return `The model ${name} of the route ${provider} is answering.`
    case 'turn':
      return (
        `The route ${provider} makes no more calls at a time, and others are under way; max_concurrent_calls of it ` +
        `in ${routesFile} says how many.`
      )
    case 'tool':
      return `The tool ${name} is at work.`
    case 'wait':
      return `The tool ${name} waits for what others do.`
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
  wait: 'tool_waits',
  arrival: 'tools_arrive',
  compaction: 'compaction',
  folder: 'worktree',
}

const commandsOf = ({ kind }: RunStep, run_id: string): readonly string[] => {
  const cancel = commandLine('runs cancel', run_id)
  if (kind === 'wait') return []
  return kind === 'arrival' ? [commandLine('mcp list'), cancel] : [cancel]
}

const stepReason = ({ models }: ControlContext, run: RunningRun, step: RunStep): Reason => ({
  code: codes[step.kind],
  text: stepText(run, step, models.file),
  since_ms: step.since_ms,
  commands: commandsOf(step, run.run_id),
})

/** Without the calls for which a step beside them says what they wait for; a route that is held back does so too. */
const told = (steps: readonly RunStep[], isHeld: boolean): readonly RunStep[] => {
  const hasTurn = steps.some(({ kind }) => kind === 'turn')
  const waiting = steps.flatMap(({ kind, tool_call_id }) => (kind === 'wait' ? tool_call_id : []))
  return steps.filter(({ kind, tool_call_id }) => {
    if (kind === 'model') return !isHeld && !hasTurn
    return kind !== 'tool' || !waiting.includes(tool_call_id)
  })
}

export const workReasons = (context: ControlContext, run: RunningRun): readonly Reason[] => {
  const { steps, wants_place } = context.executor.standing(run.run_id)
  const held = routeReasons(run, context.clock.now())
  const isHeld = held.some(({ until_ms }) => until_ms !== undefined)
  return [
    ...(run.stopping === undefined
      ? []
      : [{ code: 'stopping', text: 'Somebody has asked to end it; the step under way ends first.' }]),
    ...daemonReasons(context),
    ...held,
    ...(wants_place
      ? [placeReason(context, run.run_id)]
      : told(steps, isHeld).map((step) => stepReason(context, run, step))),
  ]
}
