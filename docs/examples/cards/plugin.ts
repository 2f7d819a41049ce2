/** A plugin with files: a tool that gives one, a record that keeps it, and what can be derived of such files. */
import type { Kit, Point, Token } from '../../../core/plugin.js'
import type { Tool } from '../../../plugins/execution/tools/contract.js'
import type { AssetHolder, Assets } from '../../../plugins/media/assets/contract.js'
import type { DerivationProfile, SubjectKind } from '../../../plugins/media/derivations/contract.js'

type Card = { card_id: string; title: string; asset_id: string }

const Tools: Point<Tool> = { point: 'tools@1' }
// part: names
const Files: Token<Assets> = { token: 'assets@1' }
const AssetReferences: Point<AssetHolder> = { point: 'asset-references@1' }
const DerivationProfiles: Point<DerivationProfile> = { point: 'derivation-profiles@1' }
const DerivationSubjects: Point<SubjectKind> = { point: 'derivation-subjects@1' }
// end

export default ({ defineErrors, definePlugin, literal, named, object, string }: Kit) => {
  const Card = named('Card', object({ card_id: string(), title: string(), asset_id: string() }))
  const CardInput = object({ title: string({ min: 1, max: 100 }), text: string({ max: 10_000 }) })
  const CardSubject = object({ type: literal('card'), card_id: string({ min: 1, max: 100 }) })
  const errors = defineErrors({
    card_not_found: {
      status: 404,
      domain: 'cards',
      detail: 'There is no card {card_id}.',
      action: 'Name one that the tool make_card has made.',
    },
    outline_empty: {
      status: 422,
      domain: 'cards',
      detail: 'There is no heading in it.',
      action: 'Begin a line with #, and store it again.',
    },
  })

  return definePlugin({
    id: 'cards',
    version: '1.0.0',
    api: 1,
    summary: 'Writes cards as files, and outlines of files.',
    needs: { assets: Files },
    config: object({}),
    register(ctx, { assets }) {
      const cards = ctx.state.collection<Card>({
        name: 'cards',
        version: 1,
        id: ({ card_id }) => card_id,
        schema: Card,
        indexes: { asset: { group: ({ asset_id }) => asset_id } },
        settled: () => true,
      })

      // part: tool
      const makeCard: Tool<typeof CardInput> = {
        name: 'make_card',
        description: 'Writes a card and gives it as a file.',
        input: CardInput,
        effect: 'idempotent',
        permission: 'allow',
        parallel: true,
        timeout_ms: 10_000,
        sandbox: 'read_only',
        async run({ title, text }) {
          const bytes = Buffer.from(`# ${title}\n\n${text}\n`)
          const file = await assets.add({ file_name: 'card.md', media_type: 'text/markdown', bytes })
          const card = { card_id: ctx.ids.make('card'), title, asset_id: file.asset_id }
          return {
            type: 'result',
            output: { card_id: card.card_id },
            files: [file],
            apply(tx) {
              // Somebody may have deleted it meanwhile: then this throws, and the call has failed.
              assets.get(file.asset_id)
              tx.insert(cards, card)
            },
          }
        },
      }
      ctx.contribute(Tools, makeCard)
      // end

      // part: holder
      ctx.contribute(AssetReferences, {
        domain: 'cards',
        namings: [
          {
            count: (asset_id, hard) => (hard ? cards.count('asset', asset_id) : 0),
            list({ asset_id, hard, limit, beyond }) {
              if (!hard) return []
              const behind = beyond === undefined ? {} : { beyond }
              const ids = cards.page({ index: 'asset', group: asset_id, order: 'desc', limit, ...behind })
              return ids.map((card_id) => ({ key: card_id, reference: { owner_id: card_id, role: 'card' } }))
            },
          },
        ],
      })
      // end

      // part: profile
      const outline: DerivationProfile = {
        profile: 'outline',
        version: 1,
        async derive({ material: { words, asset } }) {
          const text = words ?? (asset?.text_uri && (await assets.read(asset.asset_id, 'text')).toString()) ?? ''
          const headings = text.split('\n').filter((line) => line.startsWith('#'))
          if (headings.length === 0) return { type: 'failed', problem: errors.outline_empty() }
          const bytes = Buffer.from(`${headings.join('\n')}\n`)
          const result = await assets.add({ file_name: 'outline.md', media_type: 'text/markdown', bytes })
          return { type: 'completed', result }
        },
      }
      ctx.contribute(DerivationProfiles, outline)
      // end

      // part: subject
      const subject: SubjectKind<typeof CardSubject> = {
        type: 'card',
        struct: CardSubject,
        key: ({ card_id }) => `card:${card_id}`,
        resolve({ card_id }) {
          const card = cards.find(card_id)
          if (card === undefined) throw errors.card_not_found({ details: { card_id } })
          const asset = assets.get(card.asset_id)
          return { fingerprint: `card:v1:${asset.sha256}`, asset }
        },
      }
      ctx.contribute(DerivationSubjects, subject)
      // end
    },
  })
}
