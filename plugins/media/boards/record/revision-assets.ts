/** The assets of a revision: looked at before it is made, and by each start. */
import { inTurns, Problem, type JsonObject } from '../../../../core/plugin.js'
import { assetAt, placedAt, type Assets } from '../../assets/contract.js'
import { boardErrors } from './errors.js'
import { embeddedIn, mostEmbedded, mostStateBytes, parseState, placeOf, stateFault, type StatePlace } from './state.js'

const renderPath = 'body.render_asset_id'
const statePath = 'body.state_asset_id'

export interface RevisionAssets extends StatePlace {
  readonly render_asset_id: string
  readonly state_asset_id?: string | undefined
}

/** False where its bytes are not there as they were; whole reading is what verifies them. */
const isReadable = async (assets: Assets, asset_id: string): Promise<boolean> => {
  try {
    await (await assets.open(asset_id, 'raw')).close()
    return true
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}

const invalidState = (asset_id: string, { path, rule }: { readonly path: string; readonly rule: string }) =>
  boardErrors.board_state_invalid({ details: { asset_id, reason: `${path} ${rule}` }, errors: [{ path, rule }] })
const unfit = (asset_id: string, rule: string) => invalidState(asset_id, { path: statePath, rule })

/** A state asset as JSON. Rejects with `asset_not_found`, `board_state_invalid`. */
export const readState = async (assets: Assets, asset_id: string): Promise<JsonObject> => {
  const { media_type, byte_length } = assetAt(assets, asset_id, statePath)
  if (media_type !== 'application/json') throw unfit(asset_id, 'must be an asset of application/json')
  if (byte_length > mostStateBytes) throw unfit(asset_id, `must have at most ${mostStateBytes} bytes`)
  const bytes = await assets.read(asset_id, 'raw').catch((error: unknown) => {
    if (error instanceof Problem) throw unfit(asset_id, 'must be readable')
    throw error
  })
  const read = await inTurns(parseState(new TextDecoder().decode(bytes)))
  if (!read.ok) throw invalidState(asset_id, read.fault)
  return read.value
}

const checkEmbedded = async (
  assets: Assets,
  asset_id: string,
  { state, ids }: { readonly state: JsonObject; readonly ids: readonly string[] },
): Promise<void> => {
  if (ids.length > mostEmbedded)
    throw invalidState(asset_id, { path: 'state', rule: `must embed at most ${mostEmbedded} assets` })
  for (const id of ids) {
    const there = assets.find(id) !== undefined && (await isReadable(assets, id))
    if (!there)
      throw invalidState(asset_id, {
        path: placeOf(state, id) ?? 'state',
        rule: `must embed stored assets alone, unlike ${id}`,
      })
  }
}

const checkRender = async (assets: Assets, asset_id: string): Promise<void> => {
  if (!assetAt(assets, asset_id, renderPath).media_type.startsWith('image/'))
    throw boardErrors.board_revision_invalid({
      details: { what: `the asset ${asset_id} is no picture` },
      errors: [{ path: renderPath, rule: 'must be an image' }],
    })
  if (!(await isReadable(assets, asset_id)))
    throw placedAt(boardErrors.board_asset_missing({ details: { asset_id } }), renderPath)
}

/**
 * Looks at the picture and the state of a revision; gives the ids of the assets that the state embeds. Rejects with
 * `asset_not_found`, `board_asset_missing`, `board_revision_invalid`, `board_state_invalid`.
 */
export const checkAssets = async (assets: Assets, revision: RevisionAssets): Promise<string[]> => {
  const { render_asset_id, state_asset_id } = revision
  await checkRender(assets, render_asset_id)
  if (state_asset_id === undefined) return []
  const state = await readState(assets, state_asset_id)
  const fault = await inTurns(stateFault(state, revision))
  if (fault !== undefined) throw invalidState(state_asset_id, fault)
  const ids = await inTurns(embeddedIn(state))
  await checkEmbedded(assets, state_asset_id, { state, ids })
  return ids
}

/** Throws `asset_not_found` where one was deleted in the meantime: asked in the commit that names them. */
export const requireAll = (
  assets: Assets,
  { render_asset_id, state_asset_id }: Omit<RevisionAssets, keyof StatePlace>,
  embedded: readonly string[],
): void => {
  assetAt(assets, render_asset_id, renderPath)
  if (state_asset_id === undefined) return
  for (const asset_id of [state_asset_id, ...embedded]) assetAt(assets, asset_id, statePath)
}
