/** What people do with a tree meanwhile: starts and letters that are sent again until they are acknowledged. */
import type { Random } from '../../../faults/random.js'
import type { Answer, SpawnedDaemon } from '../../../support/daemon.js'
import { spawn } from '../../../support/agents.js'

export interface Letter {
  readonly message_id: string
  readonly from_agent_id: string
  readonly to_agent_id: string
}

export interface Load {
  /** One start and two letters; resolves also if the daemon dies meanwhile. */
  live(daemon: SpawnedDaemon): Promise<void>
  /** How much has not been acknowledged yet. */
  left(): number
  /** Sessions by the request that started their agents, as each acknowledgement named them. */
  readonly started: ReadonlyMap<string, ReadonlySet<string>>
  readonly sent: readonly Letter[]
}

/** A daemon that is killed answers nothing. */
const tried = (asked: Promise<Answer>): Promise<Answer | undefined> => asked.catch(() => undefined)

export interface LoadOptions {
  readonly root: string
  readonly random: Random
  readonly spawns: number
  readonly letters: number
}

export const createLoad = ({ root, random, spawns, letters }: LoadOptions): Load => {
  const started = new Map<string, Set<string>>()
  const acknowledged = new Map<string, number>()
  const sent: Letter[] = []
  const open: Letter[] = []
  const drafts = Array.from({ length: letters }, (_, n) => `letter-${n}`)
  const requests = Array.from({ length: spawns }, (_, n) => `person-${n}`)

  const start = async (daemon: SpawnedDaemon, name: string): Promise<void> => {
    const subtask = { name: name.replace('person-', 'p'), content: `work of ${name.replace('person-', 'p')}` }
    const answer = await tried(spawn(daemon, root, { subtask, spawn_request_id: name }))
    if (answer === undefined) return
    if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
    started.set(name, (started.get(name) ?? new Set()).add(answer.body.session_id))
    acknowledged.set(name, (acknowledged.get(name) ?? 0) + 1)
    /** Each is asked for twice more when it is there already. */
    if ((acknowledged.get(name) ?? 0) > 2) requests.splice(requests.indexOf(name), 1)
  }
  /** To one that stays, as leaves may be closed, and most often to one that can read it at once. */
  const draft = async (daemon: SpawnedDaemon): Promise<void> => {
    const answer = await tried(daemon.request('GET', '/v1/agents'))
    const readers: any[] = (answer?.body ?? []).filter(({ agent }: any) => agent.retention === 'retain')
    if (readers.length === 0) return
    const message_id = drafts.pop()
    const resting = readers.filter(({ agent }) => agent.status === 'completed')
    const among = resting.length > 0 && random.chance(0.7) ? resting : readers
    const { agent } = among[random.below(among.length)]
    if (message_id !== undefined) open.push({ message_id, from_agent_id: root, to_agent_id: agent.id })
  }
  const post = async (daemon: SpawnedDaemon, letter: Letter): Promise<void> => {
    const answer = await tried(daemon.request('POST', '/v1/mailboxes', { ...letter, subject: 'letter', payload: {} }))
    if (answer === undefined) return
    if (answer.status !== 202) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
    sent.push(letter)
    open.splice(open.indexOf(letter), 1)
  }
  return {
    started,
    sent,
    left: () => drafts.length + open.length + requests.length,
    async live(daemon) {
      const name = requests.length === 0 ? undefined : requests[random.below(requests.length)]
      await Promise.all([
        ...(name === undefined ? [] : [start(daemon, name)]),
        ...[...open].map((letter) => post(daemon, letter)),
        draft(daemon),
      ])
    },
  }
}
