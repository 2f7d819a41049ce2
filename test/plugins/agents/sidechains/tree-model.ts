/**
 * The model of a tree of agents: each starts its children, waits for them, writes to the agent that started it, and
 * says that it is done. It keeps nothing: which turn an agent is in follows from what it is shown.
 */
import { digest } from '../../../../core/plugin.js'
import { calling, saying, type Asked, type Reply, type WireCall } from '../../../support/openai-server.js'

/** Children of an agent of each depth, from the root on: 5 + 15 + 45 + 135 agents. */
const breadth = [5, 3, 3, 3]
export const treeSize = breadth.reduce(({ all, level }, n) => ({ all: all + level * n, level: level * n }), {
  all: 0,
  level: 1,
}).all

const depthOf = (name: string): number => name.split('.').length - 1
/** Agents are called by their place: `n`, `n.1`, `n.1.3`. One that a person started is a leaf. */
export const childrenOf = (name: string): readonly string[] =>
  name.startsWith('n') ? Array.from({ length: breadth[depthOf(name)] ?? 0 }, (_, at) => `${name}.${at + 1}`) : []
/** Every third leaf is closed when its work is done. */
export const isPassing = (name: string): boolean => depthOf(name) === breadth.length && name.endsWith('3')
export const namesBelow = (name: string): readonly string[] =>
  childrenOf(name).flatMap((child) => [child, ...namesBelow(child)])

interface Message {
  readonly role: string
  readonly content: unknown
}

export interface TreeModel {
  /** The name of what an agent was started for, from the agent that it belongs to. Rejects if nobody can tell. */
  readonly parentOf: (name: string) => Promise<string>
  /** Resolves when it is time for the turn of an agent, or when nobody waits for the answer any more. */
  readonly turn: (name: string, turn: number, gone: Promise<boolean>) => Promise<void>
  /** The same for the run that reads some messages. */
  readonly reading: (messages: string, gone: Promise<boolean>) => Promise<void>
}

/** What an agent does next; `results` are those of the turn before. */
const next = async (model: TreeModel, name: string, turn: number, results: readonly any[]): Promise<Reply> => {
  const children = childrenOf(name)
  const report = async (): Promise<Reply> =>
    name === 'n'
      ? saying(`done ${name}`)
      : calling(
          wire(name, turn, 'message_agent', {
            agent_id: await model.parentOf(name),
            subject: 'report',
            message: `report ${name}`,
          }),
        )
  if (results.some(({ message_id }) => message_id !== undefined)) return saying(`done ${name}`)
  if (children.length === 0) return report()
  const [waited, ...others] = [...children].reverse()
  if (turn === 0) return calling(...others.map((child, at) => spawnCall(name, { turn, at, child, wait: false })))
  if (turn === 1) return calling(spawnCall(name, { turn, at: 0, child: waited ?? '', wait: true }))
  if (turn === 2) return calling(wire(name, turn, 'wait_agent', { mode: 'any', timeout_ms: 110_000 }))
  const isDone = results.some(({ timed_out }) => timed_out === false)
  return turn > 3 && isDone ? report() : calling(wire(name, turn, 'wait_agent', { timeout_ms: 110_000 }))
}

const wire = (agent: string, turn: number, name: string, input: object, at = 0): WireCall => ({
  id: `call_${digest({ agent, turn, at }).slice(0, 16)}`,
  name,
  input: JSON.stringify(input),
})

const spawnCall = (
  name: string,
  { turn, at, child, wait }: { turn: number; at: number; child: string; wait: boolean },
): WireCall =>
  wire(
    name,
    turn,
    'spawn_agent',
    {
      name: child,
      prompt: `work of ${child}`,
      retention: isPassing(child) ? 'close_on_settle' : 'retain',
      ...(wait && { wait, timeout_ms: 110_000 }),
    },
    at,
  )

/** What stands behind the last text of a person or a mailbox. */
const newest = (messages: readonly Message[]): { readonly text: string; readonly since: readonly Message[] } => {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  return { text: JSON.stringify(messages[at]?.content ?? ''), since: messages.slice(at + 1) }
}

export const answerOf =
  (model: TreeModel) =>
  async ({ body, gone }: Asked): Promise<Reply> => {
    const { text, since } = newest(JSON.parse(JSON.stringify(body['messages'])))
    const name = /^"work of ([a-z0-9.]+)"$/u.exec(text)?.[1]
    if (name === undefined) {
      await model.reading(digest(text), gone)
      return saying('read')
    }
    const turn = since.filter(({ role }) => role === 'assistant').length
    const lastAnswer = since.findLastIndex(({ role }) => role === 'assistant')
    const results = since.slice(lastAnswer + 1).map(({ content }) => JSON.parse(String(content)))
    await model.turn(name, turn, gone)
    return next(model, name, turn, results).catch(() => ({ type: 'broken' }))
  }
