import { defineErrors, Problem, type Json } from '../../../core/plugin.js'
import { failedCall, type ToolOutcome } from '../../execution/tools/contract.js'

/** Why a page or a search could not be had. */
export const webErrors = defineErrors({
  web_url_refused: {
    status: 400,
    detail: 'The URL {rule}.',
    action:
      'Give a public http or https URL. Which special addresses may be asked, an operator says in config/web.toml.',
  },
  web_redirect_refused: {
    status: 502,
    detail: 'The page redirects, and the URL there {rule}.',
    action: 'Look for the page elsewhere.',
  },
  web_secret_refused: {
    status: 400,
    detail: 'What is to be asked holds a secret that the daemon keeps.',
    action: 'Ask without it.',
  },
  web_not_reached: {
    status: 502,
    detail: 'The host could not be asked: {code}.',
    action: 'Check the URL. The host may be down, or its name may lead to an address that may not be asked.',
  },
  web_status: {
    status: 502,
    detail: 'The host answered with status {status}.',
    action: 'Check the URL, or look for the page elsewhere.',
  },
  web_redirected_too_often: {
    status: 502,
    detail: 'The page redirects more than {limit} times.',
    action: 'Look for the page elsewhere.',
  },
  web_type_refused: {
    status: 415,
    detail: 'The page is {type}, which is not read: only HTML, text, JSON and XML are.',
    action: 'Look for a page that says the same as text.',
  },
  web_encoding_refused: {
    status: 502,
    detail: 'The page came encoded as {encoding}, or is not what that says.',
    action: 'Look for the page elsewhere.',
  },
  web_search_absent: {
    status: 503,
    detail: '{reason}',
    action: 'An operator can see to it; GET /v1/status says how.',
  },
  web_search_failed: {
    status: 502,
    detail: 'The search host did not answer: {reason}.',
    action: 'Go on without, or search again later. An operator looks at search_url in config/web.toml.',
  },
  web_search_refused: {
    status: 502,
    detail: 'The search host answered with status {status}: it refuses the key, or, as SearXNG does, the format JSON.',
    action: 'An operator looks at search_auth_ref, or adds json to search.formats in the settings.yml of SearXNG.',
  },
  web_search_limited: {
    status: 502,
    detail: 'The search host answers no more searches now; it says: again in {seconds} seconds.',
    action: 'Search again later, or go on without.',
  },
  web_search_unreadable: {
    status: 502,
    detail: 'The search host answered what is no list of results.',
    action: 'An operator looks at search_engine and search_url in config/web.toml.',
  },
  web_stopped: { status: 409, detail: 'The call was stopped before it ended.' },
})

/** What hosts do wrong is no fault of this plugin, whatever the status. */
export const answerOf = async (work: () => Promise<Json>): Promise<ToolOutcome> => {
  try {
    return { type: 'result', output: await work() }
  } catch (error) {
    if (error instanceof Problem) return failedCall(error)
    throw error
  }
}
