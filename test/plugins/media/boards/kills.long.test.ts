/** Boards through kills, in the middle of revisions and drawings. */
import test from 'ava'
import { rm } from 'node:fs/promises'
import { board, history, picture, read, revise, stateOf } from '../../../support/boards.js'
import { freshRoot, spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { createPause } from '../../../support/pause.js'
import { openSession } from '../../../support/runs.js'
import { partOf } from '../../../support/volume.js'

const kills = partOf(8, 15)

interface Known {
  /** Revisions that were answered, by the client_revision_id under which they were made. */
  readonly made: Map<string, string>
  /** What was asked and never answered. */
  readonly unsure: Map<string, object>
  drawn: number
  /** Drawings that were answered. */
  finished: number
  serial: number
}

const write = async (daemon: SpawnedDaemon, known: Known, assets: readonly string[]): Promise<never> => {
  for (;;) {
    known.serial += 1
    const client_revision_id = `c${known.serial}`
    const { latest_revision_id: previous_revision_id = null } = await read(daemon, '/v1/boards/written')
    const [render_asset_id = '', state_asset_id = ''] = assets
    const body = { client_revision_id, previous_revision_id, render_asset_id, state_asset_id }
    known.unsure.set(client_revision_id, body)
    const { status, body: answer } = await revise(daemon, 'written', body)
    if (status === 201) known.made.set(client_revision_id, answer.revision_id)
    known.unsure.delete(client_revision_id)
  }
}

const draw = async (daemon: SpawnedDaemon, known: Known): Promise<never> => {
  for (;;) {
    known.drawn += 1
    const elements = [{ kind: 'text', x: known.drawn % 1000, y: 40, text: `mark ${known.drawn}` }]
    const content = `/tool board_draw ${JSON.stringify({ board_id: 'drawn', elements })}\n/say Drawn.`
    const { status } = await daemon.request('POST', '/v1/sessions/s1/input', { content })
    if (status === 200) known.finished += 1
  }
}

const atRest = async (daemon: SpawnedDaemon): Promise<void> => {
  const pause = createPause()
  for (;;) {
    const [run] = await read(daemon, '/v1/runs?priority_active=true&limit=1')
    if (run === undefined || run.finished_at_ms !== undefined) return
    await pause()
  }
}

test.serial(
  `boards-3, boards-5, boards-13: what was acknowledged is there, once and in one line, through ${kills} kills`,
  async (t) => {
    const root = await freshRoot()
    t.teardown(() => rm(root, { recursive: true, force: true }))
    const known: Known = { made: new Map(), unsure: new Map(), drawn: 0, finished: 0, serial: 0 }
    let daemon = await spawnDaemon({ root })
    for (const id of ['written', 'drawn']) await board(daemon, id)
    await openSession(daemon)
    const assets = [await picture(daemon), await stateOf(daemon, { note: 'x' })]
    const checkLine = async (board_id: string): Promise<any[]> => {
      const line = (await history(daemon, board_id)).toReversed()
      for (const [at, { previous_revision_id }] of line.entries()) t.is(previous_revision_id, line[at - 1]?.revision_id)
      const { latest_revision_id, revision_count } = await read(daemon, `/v1/boards/${board_id}`)
      t.deepEqual([latest_revision_id, revision_count], [line.at(-1)?.revision_id, line.length])
      return line
    }
    /** Every element of the newest drawing, once. */
    const checkDrawing = async (): Promise<string[]> => {
      const line = await checkLine('drawn')
      const newest = line.at(-1)
      if (newest === undefined) return []
      const { elements } = (await (await fetch(`${daemon.url}/v1/assets/${newest.state_asset_id}/raw`)).json()) as any
      const texts: string[] = elements.map(({ text }: any) => text)
      t.is(new Set(texts).size, texts.length, 'nothing is drawn twice')
      t.is(texts.length, line.length, 'each drawing is one revision')
      return texts
    }
    for (let kill = 0; kill < kills; kill += 1) {
      const work = Promise.allSettled([write(daemon, known, assets), write(daemon, known, assets), draw(daemon, known)])
      const [before, made] = [known.finished, known.made.size]
      // A life in three goes on until something was drawn, which takes longest the first time, the others until one
      // revision was made.
      const isEnough = (): boolean => (kill % 3 === 0 ? known.finished > before : known.made.size > made)
      while (!isEnough()) await new Promise((resolve) => setTimeout(resolve, 20))
      await new Promise((resolve) => setTimeout(resolve, 100 + ((kill * 137) % 900)))
      await daemon.kill('SIGKILL')
      await work
      daemon = await spawnDaemon({ root })
      const ids = new Map((await checkLine('written')).map((one) => [one.client_revision_id, one.revision_id]))
      for (const [client, revision_id] of known.made) t.is(ids.get(client), revision_id)
      for (const [client, body] of known.unsure) {
        const { status, body: answer } = await revise(daemon, 'written', body)
        if (status === 201) known.made.set(client, answer.revision_id)
        if (ids.has(client)) t.is(answer.revision_id, ids.get(client), 'it gives what it made')
      }
      known.unsure.clear()
      // What the life before was about to draw may be drawn now.
      await atRest(daemon)
      await checkDrawing()
    }
    const texts = await checkDrawing()
    t.true(texts.length >= known.finished, 'what was answered is drawn')
    t.true(known.made.size > kills / 2 && texts.length >= kills / 4, `${known.made.size} made, ${texts.length} drawn`)
    const { board_repair } = (await read(daemon, '/v1/status')).storage
    t.is(board_repair.quarantined_count, 0)
    await daemon.stop()
  },
)
