import { createOutbound, definePlugin, object } from '../../../core/plugin.js'
import { Models } from '../../execution/models/contract.js'
import { Runs } from '../../execution/runs/contract.js'
import { Sessions } from '../../execution/sessions/contract.js'
import { ToolGates, Tools } from '../../execution/tools/contract.js'
import { StreamedModels } from '../../providers/streamed/contract.js'
import { UsageBooks } from '../../operator/usage/contract.js'
import { Assets } from '../assets/contract.js'
import { ableRoutes, type Making } from './choice.js'
import { MediaMakers } from './contract.js'
import { makerErrors } from './errors.js'
import type { MakingParts } from './making.js'
import { editImage, generateImage } from './pictures.js'
import { generateAudio } from './speech.js'

/** The tool of each capability. */
const toolOf: ReadonlyMap<string, Making> = new Map([
  ['generate_image', 'image_generation'],
  ['edit_image', 'image_edit'],
  ['generate_audio', 'audio_generation'],
])

/** The tools that no route can do for a session: asked before every model call, and mostly the same as before. */
const createHidden = (isAble: (making: Making, session_id: string) => boolean) => {
  let last: ReadonlySet<string> = new Set()
  return (session_id: string): ReadonlySet<string> | undefined => {
    const lacking: string[] = []
    for (const [name, making] of toolOf) if (!isAble(making, session_id)) lacking.push(name)
    if (lacking.length !== last.size || !lacking.every((name) => last.has(name))) last = new Set(lacking)
    return last.size === 0 ? undefined : last
  }
}

export default definePlugin({
  id: 'makers',
  version: '1.0.0',
  api: 1,
  summary: 'Tools that make pictures and speech, by model routes that can.',
  needs: { models: Models, assets: Assets, streamed: StreamedModels },
  wants: { runs: Runs, sessions: Sessions, books: UsageBooks },
  config: object({}),
  register(ctx, { models, assets, streamed, runs, sessions, books }) {
    const { clock, secrets, signal } = ctx
    // Answers are large: so many of one server are in memory at a time.
    const outbound = createOutbound({ clock, connections: 4 })
    ctx.own(() => outbound.close())
    const parts: MakingParts = {
      outbound: { request: (request) => streamed.once(outbound, request) },
      redact: secrets.redact,
      now: clock.now,
      stop: signal,
      models,
      makers: ctx.view(MediaMakers),
      sessions,
      assets,
      runs,
      books,
    }
    ctx.contribute(Tools, generateImage(parts), editImage(parts), generateAudio(parts))
    ctx.contribute(ToolGates, {
      id: 'makers',
      hidden: createHidden((making, session_id) => ableRoutes(parts, making, session_id).length > 0),
      refusal: (name) => makerErrors.media_unavailable({ details: { capability: toolOf.get(name) ?? name } }),
    })
  },
})
