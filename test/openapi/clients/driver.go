// Serves callbacks, and creates payments as the lines of standard input ask.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"merchant/payments"
)

type call struct {
	BaseURL        string           `json:"baseUrl"`
	APIKey         string           `json:"apiKey"`
	APISecret      string           `json:"apiSecret"`
	Payment        payments.Payment `json:"payment"`
	TimeoutSeconds float64          `json:"timeoutSeconds"`
}

func create(asked call) map[string]any {
	client := payments.Client{BaseURL: asked.BaseURL, APIKey: asked.APIKey, APISecret: asked.APISecret}
	timeout := time.Duration(asked.TimeoutSeconds * float64(time.Second))
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	body, err := client.Create(ctx, asked.Payment)
	var rejected *payments.RejectedError
	switch {
	case err == nil:
		var answer any
		_ = json.Unmarshal(body, &answer)
		return map[string]any{"outcome": "created", "answer": answer}
	case errors.As(err, &rejected):
		return map[string]any{"outcome": "rejected", "status": rejected.Status, "code": rejected.Code, "requestId": rejected.RequestID}
	case errors.Is(err, payments.ErrNotSent):
		return map[string]any{"outcome": "not-sent"}
	default:
		return map[string]any{"outcome": "unknown"}
	}
}

func main() {
	secret := os.Getenv("MERCHANT_PAYMENTS_SIGNING_SECRET")
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<20))
		if err != nil {
			response.WriteHeader(http.StatusRequestEntityTooLarge)
		} else if !payments.IsGenuine(request.Header, body, secret, time.Now()) {
			response.WriteHeader(http.StatusUnauthorized)
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() { panic(http.Serve(listener, nil)) }()
	output := json.NewEncoder(os.Stdout)
	_ = output.Encode(map[string]int{"port": listener.Addr().(*net.TCPAddr).Port})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var asked call
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		_ = output.Encode(create(asked))
	}
}
