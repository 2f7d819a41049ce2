/** Daemons whose runs ask people: `bash` needs permission and leaves a line for each call that was made. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { TestFn } from 'ava'
import { fault } from '../../core/base/assert.js'
import { freshRoot, spawnDaemon, type SpawnedDaemon } from './daemon.js'
import { createOwner, startMortal, type Mortal } from './mortal.js'
import { openSession, submit, until } from './runs.js'

export interface AskingDaemon extends Mortal {
  /** What approved calls of a session have done, in order. */
  effects(session_id: string): string[]
  /** A run of the session that waits for approval of one call for each word. */
  asks(session_id: string, ...words: string[]): Promise<any>
  /** A run of the session that waits for an answer. */
  wonders(session_id: string, input?: object): Promise<any>
  /** Kills it and starts it again on its root. */
  again(): Promise<AskingDaemon>
}

export const twoQuestions = {
  questions: [
    {
      header: 'Colour',
      question: 'Which colour?',
      options: [{ label: 'Red' }, { label: 'Blue', description: 'like the sea', preview: '#00f' }],
    },
    {
      header: 'Sizes',
      question: 'Which sizes?',
      options: [{ label: 'S' }, { label: 'M' }, { label: 'L' }],
      multi_select: true,
    },
  ],
}

/** The input of a call that leaves a word for its session. */
export const inputOf = (session_id: string, word: string): { command: string } => ({
  command: `echo ${word} >> ${session_id}.txt`,
})

interface Options {
  readonly root?: string
  readonly workspace?: string
  readonly flags?: readonly string[]
}

interface Owner {
  teardown(undo: () => unknown): void
}
type Begin = (t: Owner, root: string | undefined, flags: readonly string[]) => Promise<Mortal>

const startOn =
  (begin: Begin) =>
  async (t: Owner, { root, workspace = '', flags = [] }: Options = {}): Promise<AskingDaemon> => {
    const folder = workspace === '' ? await freshRoot() : workspace
    const daemon = await begin(t, root, ['--workspace-root', folder, ...flags])
    const start = async (session_id: string, content: string, status: string): Promise<any> => {
      await openSession(daemon, session_id)
      return until(daemon, (await submit(daemon, session_id, content)).run_id, status)
    }
    const { url, request, kill, stop } = daemon
    return {
      url,
      request,
      kill,
      stop,
      get root() {
        return daemon.root
      },
      effects(session_id) {
        const file = path.join(folder, `${session_id}.txt`)
        return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
      },
      asks: (session_id, ...words) =>
        start(
          session_id,
          `${words.map((word) => `/tool bash ${JSON.stringify(inputOf(session_id, word))}`).join('\n')}\n---\n/say ` +
            'Went on.',
          'waiting_for_approval',
        ),
      wonders: (session_id, input = twoQuestions) =>
        start(
          session_id,
          `/tool ask_user_question ${JSON.stringify(input)}\n---\n/say Thanks.`,
          'waiting_for_user_question',
        ),
      async again() {
        await daemon.kill('SIGKILL')
        return startOn(begin)(t, { root: daemon.root, workspace: folder, flags })
      },
    }
  }

/** A process. It is killed by `t`'s teardown if it still runs. */
export const spawnAsking = startOn(async (t, root, flags) => {
  const daemon = await spawnDaemon({ flags, ...(root !== undefined && { root }) })
  t.teardown(() => daemon.kill('SIGKILL'))
  return daemon
})

/** In this process: for tests that kill while runs wait for people, and not while they act. */
export const startAsking = startOn((t, root, flags) => startMortal(t, { flags, ...(root !== undefined && { root }) }))

/** One daemon for all tests of a file that keep to sessions of their own. A start is what costs most. */
export const shareAsking = (test: TestFn<any>): (() => AskingDaemon) => {
  let daemon: AskingDaemon | undefined
  const owner = createOwner()
  test.before(async () => {
    daemon = await startAsking(owner)
  })
  test.after.always(owner.end)
  return () => daemon ?? fail('the shared daemon is not up')
}
const fail = (what: string): never => {
  throw fault(what)
}

/** The events of one type of a run. */
export const eventsOf = async (daemon: Pick<SpawnedDaemon, 'request'>, run_id: string, type: string): Promise<any[]> =>
  (await daemon.request('GET', `/v1/runs/${run_id}/events`)).body.flatMap(({ event }: any) =>
    event.type === type ? [event] : [],
  )
