"""A file box: a file that is dropped into `in` becomes a message, and its answers are written into `out`.

A whole sidecar with Python's standard library alone; FILE_BOX names its folder. What must not be lost is in files, so
it can be killed at any moment: a message is sent again under its event_id, and an answer is not written twice.
"""
import base64, hmac, json, mimetypes, os, re, sys, threading, time, uuid
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib import error, parse, request

PREFIX = "SERVICE_EXTERNAL_CONNECTOR_"
NAME, TOKEN, DAEMON, HERE = (os.environ[PREFIX + of] for of in ("NAME", "SHARED_TOKEN", "DAEMON_BASE_URL", "BASE_URL"))
LEASE, KEYS = os.environ.get(PREFIX + "CREDENTIAL_TOKEN", ""), os.environ.get(PREFIX + "CREDENTIAL_KEYS_JSON", "[]")
ROUTE = f"/v1/connectors/external/{parse.quote(NAME, safe='')}"
INSTANCE = uuid.uuid4().hex  # Another one for each start: manifest, health and events must agree on it.

BOX = Path(os.environ.get("FILE_BOX", "file-box"))
IN, OUT, SENT, REFUSED, CLAIMED, RECEIPTS = (
    BOX / name for name in ("in", "out", "sent", "refused", ".claimed", ".receipts"))

def sync(path):
    os.fsync(handle := os.open(path, os.O_RDONLY))
    os.close(handle)

def write(path, content):
    """The file is there whole or not at all, also behind a power cut."""
    new = path.with_name(f".{uuid.uuid4().hex}")
    new.write_bytes(content)
    sync(new)
    os.replace(new, path)
    sync(path.parent)

def move(path, folder, name):
    os.replace(path, folder / name)
    sync(folder)
    sync(path.parent)

OPENER = request.build_opener(request.ProxyHandler({}))  # The daemon is on this machine: no proxy.

def call(method, path, body=None, token=TOKEN):
    """Status, headers and bytes of any answer. Raises OSError or HTTPException where there is none."""
    asked = request.Request(DAEMON + path, method=method, headers={"Authorization": f"Bearer {token}"})
    if body is not None:
        asked.data = json.dumps(body, ensure_ascii=False).encode()
        asked.add_header("Content-Type", "application/json")
    try:
        with OPENER.open(asked, timeout=30) as answer:
            return answer.status, answer.headers, answer.read()
    except error.HTTPError as answer:
        return answer.code, answer.headers, answer.read()

# part: claim
def claim():
    """Gives each new file its event_id, in its name: so it is the same however often the event is sent."""
    for path in sorted(IN.iterdir()):
        # Whoever writes it may not have finished: what has just changed is left for the next look.
        if path.is_file() and not path.name.startswith(".") and time.time() - path.stat().st_mtime > 0.3:
            move(path, CLAIMED, f"{time.time_ns()}-{uuid.uuid4().hex}--{path.name}")

def event_of(path):
    event_id, name = path.name.split("--", 1)
    content, media_type = path.read_bytes(), mimetypes.guess_type(name)[0] or "text/plain"
    event = {"instance_id": INSTANCE, "event_id": event_id, "occurred_at_ms": int(path.stat().st_mtime * 1000),
             "thread": {"path": ["box"]}, "reply_route": Path(name).stem, "metadata": {"file_name": name}}
    if media_type == "text/plain":
        return event | {"content": content.decode("utf-8", "replace")}
    file = {"file_name": name, "media_type": media_type, "content_base64": base64.b64encode(content).decode()}
    return event | {"content": f"The file {name}", "attachments": [file]}
# end
# part: post
wire = {"version": 2, "batches": True}

def later(status, headers):
    """Nothing is wrong with the event itself: it is sent again."""
    after = headers.get("Retry-After", "")
    return {"status": "later", "reason": f"HTTP {status}", "retry_after_ms": 1000 * int(after or 5)}

def post(events):
    """What the daemon says of each event, in order. It may say nothing of the last ones: they are sent again."""
    if wire["batches"] and len(events) > 1:
        body = {"protocol_version": wire["version"], "events": events}
        status, headers, answer = call("POST", f"{ROUTE}/events/batch", body)
        if status == 200:
            return json.loads(answer).get("results", [])
        if status not in (400, 404, 405, 413):
            return [later(status, headers)]
        wire["batches"] = status in (400, 413)  # Else it knows no batches, and is asked one by one from now on.
    status, headers, answer = call("POST", f"{ROUTE}/events", events[0] | {"protocol_version": wire["version"]})
    if status in (400, 413):  # This one will never be taken.
        return [{"status": "rejected", "reason": f"HTTP {status}: {answer.decode(errors='replace')}"}]
    return [json.loads(answer) if status == 200 else later(status, headers)]
# end
# part: send
def settle(path, result):
    """Seconds until it is to be sent again."""
    status, reason = result["status"], result.get("reason") or ""
    if status in ("accepted", "duplicate"):
        return move(path, SENT, path.name) or 0
    if status == "rejected" and "unsupported protocol_version" in reason:
        wire["version"] = 1
        return 0.1
    print(f"{path.name}: {status}: {reason}", file=sys.stderr, flush=True)
    if status == "rejected":
        write(REFUSED / f"{path.name}.why", reason.encode())
        return move(path, REFUSED, path.name) or 0
    return (result.get("retry_after_ms") or 5000) / 1000  # rate_limited, error, later

def send_for_ever():
    failures = 0
    while True:
        try:
            claim()
            paths, size = [], 0
            for path in sorted(CLAIMED.iterdir())[:64]:  # As many as a request takes: 64, and less than 2 MiB.
                if path.stat().st_size > 1024 * 1024:  # It would not be read to its end: the connection breaks.
                    settle(path, {"status": "rejected", "reason": "it has more than 1 MiB"})
                    continue
                size += 2 * path.stat().st_size + 2000
                if paths and size > 2_000_000:
                    break
                paths.append(path)
            results = post([event_of(path) for path in paths]) if paths else []
            wait = max([0, *map(settle, paths, results)])
            failures = 0
        except (OSError, HTTPException, ValueError) as problem:  # No daemon, or no answer: the files are still there.
            print(f"the daemon cannot be asked: {problem}", file=sys.stderr, flush=True)
            failures += 1
            wait = min(60, 2 ** min(failures, 8) / 4)
        time.sleep(wait or 0.3)
# end
# part: credentials
def credential(key):
    """A secret that the connector lends. The lease is short: all are fetched at the start, and kept in memory."""
    status, _, answer = call("GET", f"{ROUTE}/credentials/{parse.quote(key, safe='')}", token=LEASE)
    return json.loads(answer)["value"] if status == 200 else sys.exit(f"no credential {key}: HTTP {status}")

SECRETS = {key: credential(key) for key in json.loads(KEYS)}
# end
# part: deliver
one_at_a_time = threading.Lock()

def safe(text):
    """Nothing of what others wrote leads into another folder, or hides."""
    return re.sub(r"[^\w. -]", "_", text)[:80].lstrip(".") or "_"

def deliver(delivery):
    delivery_id, route = safe(delivery["delivery_id"]), safe(delivery["reply_route"])
    with one_at_a_time:  # The daemon may have asked again before the first answer was ready.
        if (RECEIPTS / delivery_id).exists():
            return {"status": "committed"}
        attached = [part["attachment"] for part in delivery.get("parts", []) if part["type"] == "attachment"]
        for file in {file["id"]: file for file in attached + delivery.get("artifacts", [])}.values():
            status, _, content = call("GET", file["download_path"])
            if status != 200:
                return {"status": "retryable_error", "detail": f"HTTP {status} for a file"}
            write(OUT / f"{route}--{delivery_id}--{safe(file.get('file_name') or file['id'])}", content)
        text = delivery["content"]
        if "SIGNING_KEY" in SECRETS:
            text += "\n-- signed " + hmac.digest(SECRETS["SIGNING_KEY"].encode(), text.encode(), "sha256").hex()
        # Its name has the delivery_id: written twice, it is still one file. The receipt stays when somebody takes that.
        write(OUT / f"{route}--{delivery_id}.txt", f"{text}\n".encode())
        write(RECEIPTS / delivery_id, b"")
        return {"status": "committed"}
# end
class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        facts = {"protocol_version": 1, "instance_id": INSTANCE}
        if not hmac.compare_digest(self.headers.get("Authorization", "").encode(), f"Bearer {TOKEN}".encode()):
            return self.answer(401, {"error": "the shared token is wrong"})
        try:
            match f"{self.command} {self.path}":
                case "GET /manifest": self.answer(200, facts | {"capabilities": {"threads": False}})
                case "GET /health": self.answer(200, facts | {"status": "ready"})
                case "POST /deliver": self.answer(200, deliver(json.loads(body)))
                case _: self.answer(404, {"error": "there is nothing here"})
        except (OSError, HTTPException) as problem:
            self.answer(200, {"status": "retryable_error", "detail": str(problem)[:200]})

    do_GET = do_POST = do
    log_message = lambda *_: None  # Standard error is for what somebody has to know.

for folder in (IN, OUT, SENT, REFUSED, CLAIMED, RECEIPTS):
    folder.mkdir(parents=True, exist_ok=True)
server = ThreadingHTTPServer((parse.urlsplit(HERE).hostname, parse.urlsplit(HERE).port), Server)
threading.Thread(target=send_for_ever, daemon=True).start()  # Behind that: the daemon checks events with /manifest.
server.serve_forever()
