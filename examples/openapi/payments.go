// Package payments creates payments and verifies callbacks, as openapi.json alone describes them.
package payments

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Payment is what a payment is created from.
type Payment struct {
	MerchantPaymentReference string      `json:"merchantPaymentReference"`
	Amount                   json.Number `json:"amount"`
	Currency                 string      `json:"currency"`
}

var (
	// ErrNotSent: there was no connection, so no payment was created. Try again later.
	ErrNotSent = errors.New("not sent")
	// ErrUnknown: the payment may exist. Do not create it again: wait for its callback.
	ErrUnknown = errors.New("the payment may exist")
)

// RejectedError says that the service refused. This request created no payment.
type RejectedError struct {
	Status    int    `json:"-"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	RequestID string `json:"requestId"`
}

func (rejected *RejectedError) Error() string {
	return fmt.Sprintf("%d %s: %s", rejected.Status, rejected.Code, rejected.Message)
}

// Client creates payments.
type Client struct{ BaseURL, APIKey, APISecret string }

var httpClient = &http.Client{
	// A redirect may follow success.
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Create returns what the service answers, which may be anything: the payment exists.
func (client Client) Create(ctx context.Context, payment Payment) ([]byte, error) {
	body, err := json.Marshal(payment)
	if err != nil {
		return nil, err
	}
	url := strings.TrimRight(client.BaseURL, "/") + "/api/payments"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth(client.APIKey, client.APISecret)
	request.Header.Set("Content-Type", "application/json")
	response, err := httpClient.Do(request)
	if err != nil {
		var failed *net.OpError
		if errors.As(err, &failed) && failed.Op == "dial" {
			return nil, fmt.Errorf("%w: %v", ErrNotSent, err)
		}
		return nil, fmt.Errorf("%w: %v", ErrUnknown, err)
	}
	defer response.Body.Close()
	// A body that breaks off or is not JSON changes nothing about the payment.
	answer, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	switch status := response.StatusCode; {
	case status >= 200 && status < 300:
		return answer, nil
	// 408 and 499 may come from a proxy while the service goes on.
	case status >= 400 && status < 500 && status != 408 && status != 499:
		rejected := &RejectedError{Status: status}
		_ = json.Unmarshal(answer, rejected)
		return nil, rejected
	default:
		return nil, fmt.Errorf("%w: answered with %d", ErrUnknown, status)
	}
}

var seconds = regexp.MustCompile(`^[0-9]{1,12}$`)

// IsGenuine tells whether the service sent a callback. Parse its body only then.
func IsGenuine(header http.Header, rawBody []byte, signingSecret string, now time.Time) bool {
	timestamp := header.Get("X-Timestamp")
	if !seconds.MatchString(timestamp) {
		return false
	}
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || sent < now.Unix()-300 || sent > now.Unix()+300 {
		return false
	}
	received, err := hex.DecodeString(header.Get("X-Signature"))
	if err != nil {
		return false
	}
	digest := hmac.New(sha256.New, []byte(signingSecret))
	digest.Write([]byte(timestamp + "."))
	digest.Write(rawBody)
	return hmac.Equal(digest.Sum(nil), received)
}
