"""Serves callbacks, and creates payments as the lines of standard input ask."""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from payments import NotSent, Rejected, Unknown, create_payment, is_genuine

SECRET = os.environ["MERCHANT_PAYMENTS_SIGNING_SECRET"]


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > 1_048_576:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(length)
        self.answer(200 if is_genuine(self.headers, body, SECRET) else 401)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_parts):
        pass


def create(call):
    try:
        answer = create_payment(
            call["baseUrl"], call["apiKey"], call["apiSecret"], call["payment"], call["timeoutSeconds"]
        )
        return {"outcome": "created", "answer": answer}
    except Rejected as error:
        return {"outcome": "rejected", "status": error.status, "code": error.code, "requestId": error.request_id}
    except NotSent:
        return {"outcome": "not-sent"}
    except Unknown:
        return {"outcome": "unknown"}


server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"port": server.server_port}), flush=True)
for line in sys.stdin:
    print(json.dumps(create(json.loads(line))), flush=True)
