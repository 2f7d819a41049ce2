/** Every protocol passes the suite of model providers, against a server that speaks it. */
import test from 'ava'
import { conformProvider } from '../../../conform/provider.js'
import { connectTo, transport, type Spoken } from '../../../support/model-client.js'
import { startOpenAiServer, type Asked, type Reply } from '../../../support/openai-server.js'
import { vendors, type Vendor } from '../../../support/vendors.js'

test.after.always(() => transport.close())

const repliesOf = ({ saying, calling }: Vendor): Readonly<Record<string, Reply>> => ({
  text: saying('a', 'b'),
  calls: calling({ id: 'x', name: 'f', input: '{"a":[1,2]}' }, { id: 'y', name: 'g', input: '{}' }),
  fails: { type: 'status', status: 500, body: '{"error":{"message":"down"}}' },
  endless: Object.assign({ pace_ms: 10 }, saying(...Array.from({ length: 1000 }, () => 'x'))),
})

/** What the last user said, if nothing came behind it. */
const lastSaid = (vendor: Vendor, asked: Asked): string | undefined => {
  if (vendor.told(asked).at(-1) !== 'user') return undefined
  const texts = [...JSON.stringify(asked.body).matchAll(/"(?:text|content)":"(text|calls|fails|endless)"/gu)]
  return texts.at(-1)?.[1]
}

const conform = (vendor: Vendor, spoken: Spoken): void => {
  const replies = repliesOf(vendor)
  /** A model that does what the last message says, and ends after results. */
  const obedient = (asked: Asked): Reply => replies[lastSaid(vendor, asked) ?? ''] ?? vendor.saying('ok')
  conformProvider(test, spoken, async (t) => {
    const server = await startOpenAiServer(obedient)
    t.teardown(() => server.close())
    return {
      connection: connectTo(server.url, { api_key: 'sk-1', spoken }),
      texts: { text: 'text', calls: 'calls', fails: 'fails', endless: 'endless' },
      traffic: () => ({ asked: server.asked.length, open: server.open() }),
    }
  })
}

const speaks: Readonly<Record<Exclude<Spoken, 'openai_compatible'>, string>> = {
  anthropic: 'anthropic',
  google: 'google',
  openai: 'openai',
  openrouter: 'openai_compatible',
  xai: 'openai',
}
for (const vendor of vendors)
  for (const spoken of ['anthropic', 'google', 'openai', 'openrouter', 'xai'] as const)
    if (speaks[spoken] === vendor.provider) conform(vendor, spoken)
