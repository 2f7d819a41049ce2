/** A board as a run is told of it: its picture, and what it says in words. */
import { inTurns, visible, type Json, type JsonObject } from '../../../core/plugin.js'
import { attachmentOf, type Assets } from '../assets/contract.js'
import type { Boards } from './contract.js'
import { boardErrors } from './record/errors.js'
import { marksIn } from './drawing/scene.js'
import { readState } from './record/revision-assets.js'
import type { BoardStore, StoredRevision } from './record/store.js'

/** Characters of the words: no more of a file is told to models. */
const mostWords = 11_000
const mostNames = 20

const wordFields: ReadonlySet<string> = new Set(['text', 'label', 'title', 'note'])

/** Texts of a state, in the order in which they stand there. */
function* textsIn(value: Json | undefined): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, one] of Object.entries(value)) {
    if (typeof one === 'string' && one.trim() !== '' && wordFields.has(name)) yield one.trim()
    else yield* textsIn(one)
  }
}

const saidIn = (state: JsonObject): string => {
  const lines: string[] = []
  let left = mostWords
  for (const text of textsIn(state)) {
    const line = `- ${visible(text.slice(0, left)).replaceAll('\n', '\n  ')}`
    left -= line.length + 1
    if (left < 0) return [...lines, 'There are more.'].join('\n')
    lines.push(line)
  }
  return lines.length === 0 ? 'Nothing is written on it.' : ['What is written on it:', ...lines].join('\n')
}

const drawnBy = async (state: JsonObject): Promise<string> => {
  const marks = await inTurns(marksIn(state))
  const names = [...new Set(marks.map(({ author }) => author))]
  return `${marks.length} elements, by ${visible(names.slice(0, mostNames).join(', ')) || 'nobody'}.`
}

const wordsOf = async (name: string, revision: StoredRevision, state: JsonObject | undefined): Promise<string> =>
  [
    `The board ${JSON.stringify(visible(name))} (${revision.board_id}), revision ${revision.revision_id}.`,
    ...(revision.note === undefined ? [] : [`Note of the revision: ${visible(revision.note)}`]),
    ...(state === undefined ? ['It is a picture alone.'] : [await drawnBy(state), saidIn(state)]),
    '',
  ].join('\n')

export const createBoards = ({ store, assets }: { readonly store: BoardStore; readonly assets: Assets }): Boards => ({
  check({ board_id, revision_id }) {
    store.get(board_id)
    if (revision_id !== undefined) store.revision(board_id, revision_id)
  },
  async refer({ board_id, revision_id }) {
    const { latest_revision_id, display_name } = store.get(board_id)
    const wanted = revision_id ?? latest_revision_id
    if (wanted === undefined) throw boardErrors.board_empty({ details: { board_id } })
    const revision = store.revision(board_id, wanted)
    const { render_asset_id, state_asset_id } = revision
    const state = state_asset_id === undefined ? undefined : await readState(assets, state_asset_id)
    const words = Buffer.from(await wordsOf(display_name, revision, state))
    const told = await assets.add({ file_name: 'board.txt', media_type: 'text/plain', bytes: words })
    return {
      files: [attachmentOf(assets.get(render_asset_id)), attachmentOf(told)],
      named: state_asset_id === undefined ? [] : [state_asset_id],
    }
  },
})
